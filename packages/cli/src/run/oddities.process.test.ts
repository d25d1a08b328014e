// Runs `parley run` against every oddity of real agents (`oddities` of @parley/conformance).

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { oddities } from "@parley/conformance";
import type { AgentScenario } from "@parley/conformance/testing";
import { eventsOf, interruptAt, patience, type Ran, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();

type Check = (ran: Ran) => void;

const ends =
  (status: number, stdout: RegExp | string = "fine\n", stderr: RegExp | string = ""): Check =>
  (ran) => {
    assert.equal(ran.status, status, ran.stderr);
    if (typeof stdout === "string") assert.equal(ran.stdout, stdout);
    else assert.match(ran.stdout, stdout);
    if (typeof stderr === "string") assert.equal(ran.stderr, stderr);
    else assert.match(ran.stderr, stderr);
  };
/** It ends well, and all of these are told on the way. */
const tells =
  (...told: readonly RegExp[]): Check =>
  (ran) => {
    assert.equal(ran.status, 0, ran.stderr);
    for (const each of told) assert.match(ran.stdout, each);
    assert.equal(eventsOf(ran).at(-1)?.["text"], "fine");
  };
const json = ["--format", "json"];
const refused = /^parley: refused by policy: /;
const ranOnce = /^(?:\? .*refused.*\n)?✓ Run ls\n$/;

/** What a user sees of each. */
const expectations: readonly [
  number: number,
  name: keyof typeof oddities,
  check: Check,
  args?: readonly string[],
][] = [
  [1, "updates-before-the-session", tells(/"availableCommands":\[\{/), json],
  [2, "answers-without-id", ends(0)],
  [14, "ids-as-text", ends(0)],
  [3, "vendor-methods", ends(0)],
  [4, "unknown-updates", ends(0)],
  [4, "unknown-updates", tells(/current_model_update/, /available_modes_update/, /turn_complete/), json],
  [5, "tool-call-after-its-updates", ends(3, ranOnce, refused)],
  [5, "question-about-an-unannounced-call", ends(3, ranOnce, refused)],
  [5, "unannounced-call-only-updated", ends(3, ranOnce, refused)],
  [5, "refused-call-never-announced", ends(3, /\nAs you like\.\n/, refused)],
  [5, "in-progress-before-asking", ends(3, ranOnce, refused)],
  [5, "completed-from-nothing", ends(0, ranOnce)],
  [6, "terminal-nobody-created", ends(0, "✓ ls\n    from-shell\n")],
  [7, "fields-outside-the-schema", ends(0)],
  [
    7,
    "fields-outside-the-schema",
    tells(/"currentValue":"a".*"category":"model"|"category":"model".*"currentValue":"a"/),
    json,
  ],
  [7, "usage-in-the-answer", ends(0, "fine\n", "parley: 3 tokens\n")],
  [7, "messages-without-ids", ends(0)],
  [
    7,
    "updates-of-nothing",
    ends(0, "fine\n", /^parley: 2 updates of the agent were not valid and left out; .*\n$/),
  ],
  [8, "null-fields", ends(0, "✓ Run ls\n\nfine\n")],
  [8, "null-usage", ends(0, /^(?:fine\n)?$/, /^(?:parley: the agent ended its turn without output\n)?$/)],
  [8, "odd-options", tells(/auto_approve.*\$runtime\|openai\|x\(openai\).*collaboration_mode/), json],
  [10, "updates-outside-turns", ends(0, /^fine\n/)],
  [10, "mode-answered-by-text", ends(0, /fine\n$/), ["--mode", "plan"]],
  [11, "huge-message", ends(0)],
  [12, "ids-of-every-kind", ends(0)],
  [13, "mode-answered-by-mode-update", ends(0), ["--mode", "plan"]],
  [13, "mode-answered-by-options", ends(0), ["--mode", "plan"]],
  [13, "mode-answered-by-vendor", ends(0), ["--mode", "plan"]],
  [13, "mode-answered-by-nothing", ends(0), ["--mode", "plan"]],
  [14, "text-after-the-answer", ends(0, "late\n")],
  [15, "refusal-cancels-the-turn", ends(3, /refused/, refused)],
  [15, "http-status-as-code", ends(1, "", /returned an error: Bad Request \(400\)/)],
  [15, "error-as-text", ends(0, "Error: 400 Bad Request\n")],
  [15, "failure-says-nothing", ends(0, "", "parley: the agent ended its turn without output\n")],
  [15, "start-up-failure", ends(1, "", /codex failed to start \(1001\)/)],
  [15, "unknown-stop-reason", ends(1, "fine\n", /stopped with an unknown reason: aborted/)],
  [18, "half-a-line-and-death", ends(1, "fine\n", /exited with code 1/)],
  [18, "crash", ends(1, "fine\n", /exited with code 134/)],
  [18, "killed", ends(1, "fine\n", /SIGKILL/)],
  [19, "batch-ends-the-agent", ends(0)],
  [19, "answers-twice", ends(0)],
  [19, "banner", ends(0, "fine\n", /^parley: the agent wrote 3 lines to stdout that are not messages.*\n$/)],
  [19, "byte-order-mark", ends(0)],
  [19, "blank-lines", ends(0)],
  [
    19,
    "broken-json",
    ends(0, "fine\n", /^parley: the agent wrote a line to stdout that is not a message.*\n$/),
  ],
  [19, "flood", ends(0, `${"x".repeat(5000)}\n`)],
];

suite("what real agents do", () => {
  for (const [number, name, check, args = []] of expectations) {
    const { what, agent } = oddities[name];
    test(`${number}: ${what} (${[name, ...args].join(" ")})`, patience, async () =>
      check(await probe.run(agent, args)),
    );
  }

  // An answer that never comes is waited for; whoever waits may stop it.
  for (const name of ["answer-without-its-id", "prompt-never-answered", "cancel-ignored", "hang"] as const) {
    const { what, agent } = oddities[name];
    test(`14, 18: ${what}, and Ctrl-C ends it (${name})`, patience, async () => {
      const words = name === "cancel-ignored" ? "on and on" : "fine";
      const { status, stdout, stderr } = await probe.run(agent, [], interruptAt(words));
      assert.equal(status, 130, stderr);
      assert.equal(stdout, `${words}\n`);
      assert.match(stderr, /^parley: node did not end its work.*, and was ended\nparley: cancelled\n$/);
    });
  }

  /** It can load sessions and nothing else, and every process of it has the same one; it does not look at prompts. */
  const keeps = (play: Partial<AgentScenario>): Partial<AgentScenario> => ({
    editions: ["v1"],
    ...play,
    wire: {
      ...play.wire,
      replies: [
        {
          method: "initialize",
          patch: { agentCapabilities: { loadSession: true, sessionCapabilities: { resume: null } } },
        },
        { method: "session/new", patch: { sessionId: "old" } },
        {
          method: "session/prompt",
          before: [
            {
              jsonrpc: "2.0",
              method: "session/update",
              params: {
                sessionId: "old",
                update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "fine" } },
              },
            },
          ],
          result: { stopReason: "end_turn" },
        },
        ...(play.wire?.replies ?? []),
      ],
    },
    sessions: [
      {
        sessionId: "old",
        cwd: probe.cwd,
        entries: [
          { kind: "prompt", messageId: "p", prompt: [{ type: "text", text: "before" }] },
          {
            kind: "update",
            update: {
              sessionUpdate: "agent_message_chunk",
              messageId: "a",
              content: { type: "text", text: "as I said" },
            },
          },
        ],
      },
    ],
  });

  /** Two runs in one session; gives what the second one printed. */
  async function goOn(name: string, play: Partial<AgentScenario>): Promise<Ran> {
    const command = probe.agent(keeps(play));
    const args = ["run", "--session", name, "hello", "--", ...command];
    const first = await probe.parley(args);
    assert.equal(first.status, 0, first.stderr);
    return probe.parley(args);
  }

  test(
    "9: session/load does not wait for its replay: nothing of it is printed or kept again",
    patience,
    async () => {
      const { what: _, agent } = oddities["load-replays-after-its-answer"];
      const { status, stdout, stderr } = await goOn("late-replay", { wire: agent.wire ?? {} });
      assert.equal(status, 0, stderr);
      assert.equal(stdout, "fine\n");
      const shown = await probe.parley(["sessions", "show", "late-replay"]);
      assert.equal(shown.stdout.match(/fine/g)?.length, 2, shown.stdout);
      assert.doesNotMatch(shown.stdout, /as I said|Function Response/);
    },
  );

  for (const name of [
    "load-names-its-session",
    "null-load-result",
    "history-with-fields-of-its-own",
  ] as const) {
    test(`9: ${oddities[name].what} (${name})`, patience, async () => {
      const { status, stdout } = await goOn(name, { wire: oddities[name].agent.wire ?? {} });
      assert.deepEqual([status, stdout], [0, "fine\n"]);
    });
  }

  for (const name of [
    "load-of-a-live-session-refused",
    "unknown-session-invalid-params",
    "unknown-session-internal-error",
    "unknown-session-own-code",
  ] as const) {
    test(
      `16: ${oddities[name].what}: a new one is begun, and the user is told (${name})`,
      patience,
      async () => {
        const { status, stdout, stderr } = await goOn(name, { wire: oddities[name].agent.wire ?? {} });
        assert.deepEqual([status, stdout], [0, "fine\n"], stderr);
        assert.match(stderr, /starting a new one; it does not know the previous conversation/);
      },
    );
  }

  test("17: a file is read to see whether it exists, and is then written", patience, async () => {
    const steps = [
      { read: "{{cwd}}/new.txt" },
      { write: "{{cwd}}/new.txt", content: "new\n" },
      { say: "fine" },
    ];
    const { status, stdout, stderr } = await probe.run({ editions: ["v1"], otherwise: steps }, [
      "--allow",
      "write new.txt",
    ]);
    assert.deepEqual([status, stdout], [0, "fine\n"], stderr);
    assert.equal(readFileSync(join(probe.cwd, "new.txt"), "utf8"), "new\n");
  });

  test("17: what no rule allows is not written, and says so", patience, async () => {
    const steps = [{ write: "{{cwd}}/never.txt", content: "new\n" }, { say: "fine" }];
    const { status, stderr } = await probe.run({ editions: ["v1"], otherwise: steps });
    assert.equal(status, 3, stderr);
    assert.equal(existsSync(join(probe.cwd, "never.txt")), false);
  });

  test("20: ways to log in of every shape are named, and nobody is logged in unasked", patience, async () => {
    const { agent } = oddities["odd-auth-methods"];
    const required = { method: "session/new", error: { code: -32000, message: "Authentication required" } };
    const scenario = { ...agent, wire: { replies: [...(agent.wire?.replies ?? []), required] } };
    const ran = await probe.run(scenario, ["--format", "json"]);
    assert.equal(ran.status, 6, ran.stderr);
    const { error } = eventsOf(ran).at(-1) as unknown as { error: { code: string; hint: string } };
    assert.equal(error.code, "login_needed");
    assert.match(error.hint, /plain \(Plain\).*agent \(Agent\).*env \(Environment\)/);
  });
});

test("every oddity of an agent is played", () => {
  const played = new Set<string>(expectations.map(([, name]) => name));
  const elsewhere = [
    // with a session that is gone on with, or stopped by hand
    ...[
      "load-replays-after-its-answer",
      "load-names-its-session",
      "null-load-result",
      "history-with-fields-of-its-own",
      "load-of-a-live-session-refused",
    ],
    ...["unknown-session-invalid-params", "unknown-session-internal-error", "unknown-session-own-code"],
    ...["answer-without-its-id", "prompt-never-answered", "cancel-ignored", "hang"],
    ...["missing-file-then-write", "odd-auth-methods"],
    // a run neither forks nor lists, and sends nothing that cannot be read
    ...[
      "fork-replayed-before-its-answer",
      "null-cursor",
      "broken-input-answered-without-id",
      "broken-input-ignored",
    ],
    // what clients do
    ...[
      "cancel-with-a-reason",
      "method-before-id",
      "client-without-info",
      "files-that-fail",
      "null-for-nothing",
    ],
    ...["question-cancelled", "option-never-offered", "unoffered-form-answered", "client-dies"],
  ];
  assert.deepEqual(
    Object.keys(oddities).filter((name) => !played.has(name) && !elsewhere.includes(name)),
    [],
  );
});
