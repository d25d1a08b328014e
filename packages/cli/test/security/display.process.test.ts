// What an agent says cannot act on the terminal that it is shown in, nor look like something else: by the real binary,
// in every place where an agent's words are printed.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentScenario, AgentStep } from "@parley/conformance/testing";
import { patience, RunProbe } from "../support/run-probe.ts";

const probe = new RunProbe();

/** By the rule that each is a case of. */
const hostile: Readonly<Record<string, string>> = {
  N198: "\u001b[2J",
  N199: "\u001b[5A\u001b[2KAllowed by you",
  N200: "\u001b]52;c;ZXZpbA==\u0007",
  N201: "\u001b]8;;https://evil.example\u001b\\https://good.example\u001b]8;;\u001b\\",
  N202: "\u001b]0;title\u0007",
  N203: "\u001b[6n\u001bP$q m\u001b\\",
  N204: "\u001bPtmux;x\u001b\\\u001b_Ga=T\u001b\\",
  N205: "\u009b2J\u0090x\u009c",
  N206: "\u202eexe.txt\u061c",
  N207: "a\u200bb\u2060c\ufeff",
};

/** Nothing of this may reach a terminal as it is; line ends and tabs may. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const acting = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/;

function everywhere(text: string): Partial<AgentScenario> {
  const steps: AgentStep[] = [
    { say: `said ${text} end\n\n` },
    { think: `thought ${text} end` },
    { plan: [{ content: `planned ${text} end`, priority: "high", status: "pending" }] },
    {
      tool: { title: `titled ${text} end`, kind: "execute", rawInput: { command: `echo ${text}` } },
      steps: [
        { add: `added ${text} end` },
        { diff: { path: `/nowhere/${text}`, oldText: `old ${text}`, newText: `new ${text}` } },
        { display: { command: `ran ${text}` }, output: `printed ${text} end` },
        { ask: true },
      ],
    },
    // what is protected, not understood or denied is named in the reason
    ...[
      { path: `.git/${text}`, content: text },
      { command: "ls", [`field ${text}`]: text, cwd: `/nowhere/${text}`, env: { [`X${text}`]: text } },
      { url: `https://evil.example/${text}` },
      { server: text, tool: text },
      { commands: [`cat '${text}`, `rm ${text}`] },
    ].map(
      (rawInput): AgentStep => ({ tool: { title: "t", kind: "other", rawInput }, steps: [{ ask: true }] }),
    ),
    { write: `/nowhere/${text}`, content: text },
    { run: { command: `rm ${text}`.replaceAll("\u0000", ""), env: { X: text.replaceAll("\u0000", "") } } },
    { ask: `asked ${text} end` },
  ];
  return { name: "hostile", title: `called ${text}`, otherwise: steps };
}

test(
  "no sequence of an agent acts on the terminal or hides what it says (C52, N198-N207, TH5)",
  patience,
  async (t) => {
    const violations: string[] = [];
    let attempts = 0;
    for (const version of [1, 2] as const) {
      // quiet gives a program the agent's words as they are, and a terminal what the others show
      for (const format of ["text", "json"]) {
        const text = Object.values(hostile).join(" then ");
        const ran = await probe.run({ ...everywhere(text), editions: [`v${version}`] }, [
          "--format",
          format,
          "--deny",
          "exec rm",
        ]);
        assert.equal(ran.status, 3, ran.stderr);
        assert.match(ran.stdout, /titled /);
        for (const [stream, printed] of Object.entries({ stdout: ran.stdout, stderr: ran.stderr })) {
          attempts += Object.keys(hostile).length;
          const found = acting.exec(printed);
          if (found === null) continue;
          const near = JSON.stringify(printed.slice(Math.max(0, found.index - 60), found.index + 30));
          violations.push(`version ${version}, ${format}, ${stream}: ${near}`);
        }
      }
    }
    t.diagnostic(
      `security: sequences for the terminal: ${attempts} attempts, ${violations.length} violations`,
    );
    assert.deepEqual(violations, []);
  },
);

test("what was kept of it does not act either when it is shown again (TH5)", patience, async (t) => {
  const text = Object.values(hostile).join(" then ");
  const steps: AgentStep[] = [{ say: `said ${text}` }];
  const agent = probe.agent({ otherwise: steps });
  const ran = await probe.started(["run", `prompt ${text}`.replaceAll("\u0000", ""), "--", ...agent]);
  assert.equal(ran.status, 0, ran.stderr);
  const shown = [ran];
  const { data } = JSON.parse((await probe.started(["sessions", "list", "--json"])).stdout);
  const { id } = data.sessions[0] as { id: string };
  for (const args of [["list"], ["show", id], ["search", "said"], ["show", id, "--json"]])
    shown.push(await probe.started(["sessions", ...args]));
  shown.push(await probe.started(["permissions", "log"]));
  const violations = shown.flatMap(({ stdout, stderr }) =>
    [stdout, stderr]
      .filter((printed) => acting.test(printed))
      .map((printed) => JSON.stringify(printed.slice(0, 300))),
  );
  t.diagnostic(
    `security: sequences in what is kept: ${shown.length} attempts, ${violations.length} violations`,
  );
  assert.deepEqual(violations, []);
});

test("the names of modes and of ways to log in do not act in what went wrong (TH5)", patience, async () => {
  const text = Object.values(hostile).join(" then ");
  const currentModeId = "code";
  const modes = {
    currentModeId,
    availableModes: [
      { id: currentModeId, name: "Code" },
      { id: text, name: text },
    ],
  };
  const login = [{ method: "session/prompt", error: { code: -32000, message: `log in ${text}` } }];
  const replies = [{ method: "session/new", patch: { modes } }];
  const scenarios: readonly [number, Partial<AgentScenario>, readonly string[]][] = [
    [2, { editions: ["v1"], wire: { replies }, otherwise: [] }, ["--mode", "none"]],
    [6, { authMethods: [{ methodId: text, name: text, type: "agent" }], wire: { replies: login } }, []],
  ];
  for (const [status, scenario, args] of scenarios) {
    const ran = await probe.run(scenario, [...args]);
    assert.equal(ran.status, status, ran.stderr);
    assert.match(ran.stderr, / then /);
    assert.doesNotMatch(ran.stderr, acting);
  }
});
