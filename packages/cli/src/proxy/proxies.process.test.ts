// Proxies in front of agents: `parley proxy`, and `--proxy` and `--chain` of the commands that start an agent.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { AgentScenario } from "@parley/conformance/testing";
import { until } from "../../../acp/test/support/channel-probe.ts";
import { eventsOf, interruptAt, launcher, patience, RunProbe } from "../../test/support/run-probe.ts";
import { startServe } from "../../test/support/serve-probe.ts";
import { proxyNames } from "./proxy-commands.ts";

const probe = new RunProbe();
const tokens = { totalTokens: 45, inputTokens: 40, outputTokens: 5 };
const echo: Partial<AgentScenario> = { otherwise: [{ say: "You said: {{prompt}}" }] };

/** A proxy as others write them, which ends its process when a prompt says so. */
const dying = join(probe.folder, "dying-proxy.mjs");
writeFileSync(
  dying,
  `import { serveStdio } from ${JSON.stringify(import.meta.resolve("@parley/acp/node"))};
  import { proxy } from ${JSON.stringify(import.meta.resolve("@parley/acp/proxy"))};
  await serveStdio(proxy({
    name: "dying",
    version: "1.0.0",
    prompt({ content }) {
      if (JSON.stringify(content).includes("die now")) process.exit(9);
      return { content: [...content, { type: "text", text: "seen by " + process.pid }] };
    },
  }));`,
);

function keep(config: object): void {
  mkdirSync(join(probe.home, "config"), { recursive: true });
  writeFileSync(join(probe.home, "config/config.json"), JSON.stringify(config));
}

test("parley proxy lists the proxies that come with Parley, with their options", patience, async () => {
  const shown = await probe.started(["proxy"]);
  assert.equal(shown.status, 0, shown.stderr);
  assert.match(shown.stdout, /^budget {3}Warns once/);
  assert.match(shown.stdout, /--tokens COUNT +Tokens/);
  const { data } = JSON.parse((await probe.started(["proxy", "--json"])).stdout);
  assert.deepEqual(
    data.proxies.map(({ name }: { name: string }) => name),
    [...proxyNames],
  );
});

test("options of a proxy that are not quoted: the error shows the line with quotes", patience, async () => {
  for (const [typed, meant] of [
    [
      ["policy", "--deny", "exec rm", "--", "my-agent", "--acp"],
      `'policy --deny "exec rm"' -- my-agent --acp`,
    ],
    [["redact", "budget", "--tokens=5", "notify"], '"budget --tokens=5" notify'],
  ] as const) {
    const ran = await probe.parley(["proxy", ...typed]);
    assert.equal(ran.status, 2);
    assert.match(
      ran.stderr,
      / is an option of (policy|budget), and a proxy and its options are one argument\n/,
    );
    assert.ok(ran.stderr.includes(meant), ran.stderr);
  }
});

for (const [typed, message] of [
  [["budget"], "parley proxy: budget needs at least one of --tokens, --cost and --time"],
  [["budget --tokens many"], "parley proxy: budget --tokens: expected a number above 0, got many"],
  [["budget --time 10"], "parley proxy: budget --time: expected a time such as 90s, 10m or 1h, got 10"],
  [["budget --tokns 5"], "parley proxy: budget: Unknown option '--tokns'"],
  [["redact --only x"], "parley proxy: redact --only: expected prompts or updates, got x"],
  [["context"], "parley proxy: context needs at least one --file or --text"],
  [['my-proxy "a'], 'parley proxy: a quote is not closed, or a \\ is the last character: my-proxy "a'],
  [[""], "parley proxy: expected a proxy, got an empty text"],
  [["--on-exit", "later", "redact"], "--on-exit: expected restart, bypass, fail, got later"],
  [["--chain", "work"], "--chain: there is no chain work in the config file; there are: none"],
  [["--reset", "redact"], "--reset: expected one of budget, policy, got redact"],
  [["--json", "redact"], "--json is for the list: parley proxy --json"],
  [["--", "parley"], 'expected a proxy in front of --: parley proxy "budget --tokens 200000" -- claude'],
] as const) {
  test(`parley proxy ${typed.join(" ")}: the error says what to do`, patience, async () => {
    const ran = await probe.started(["proxy", ...typed]);
    assert.equal(ran.status, 2);
    const [first, second = ""] = ran.stdout.startsWith("{")
      ? [JSON.parse(ran.stdout).error.message, JSON.parse(ran.stdout).error.hint]
      : ran.stderr
          .trimEnd()
          .split("\n")
          .map((line) => line.replace(/^parley: /, ""));
    assert.equal(first, message);
    assert.ok(second.length > 10);
  });
}

test(
  "proxies stand in front of the agent of a run, in the order in which they were typed",
  patience,
  async () => {
    const ran = await probe.run(echo, ["--proxy", "context --text one", "--proxy", "context --text two"]);
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stdout, /You said: hello\s*one\s*two/);
  },
);

test(
  "the first prompt of a session gets the instructions and the files, the second does not",
  patience,
  async () => {
    writeFileSync(join(probe.cwd, "NOTES.md"), "tabs, never spaces");
    const proxies = ["--proxy", "context --text 'Be brief.' --file NOTES.md --file missing.md"];
    const ran = await probe.parley(
      ["chat", "--plain", "--no-history", ...proxies, "--", ...probe.agent(echo)],
      {
        input: "first\nsecond\n",
      },
    );
    assert.equal(ran.status, 0, ran.stderr);
    const said = ran.stdout.replaceAll(/\s+/g, " ");
    assert.match(
      said,
      /You said: first ?Be brief\. ?The file NOTES\.md: tabs, never spaces ?\[The file missing\.md could not be added: ENOENT\.\]/,
    );
    assert.match(said, /You said: second(?! ?Be brief)/);
  },
);

test(
  "what context adds is neither a command for the agent nor the title of the session",
  patience,
  async () => {
    writeFileSync(join(probe.cwd, "STYLE.md"), "tabs, never spaces");
    const context = "context --text 'Be brief.' --file STYLE.md";
    for (const edition of ["v1", "v2"]) {
      const name = `titled-${edition}`;
      const ran = await probe.parley(["run", "-s", name, "--edition", edition, "list .", "--proxy", context]);
      assert.equal(ran.status, 0, ran.stderr);
      assert.match(ran.stdout, /STYLE\.md/);
      assert.doesNotMatch(ran.stdout, /did not understand/);
      const { data } = JSON.parse((await probe.parley(["sessions", "list", "--json"])).stdout);
      assert.equal(data.sessions.find((each: { name?: string }) => each.name === name).title, "list .");
    }
  },
);

test("a secret reaches neither the agent nor the user, also in pieces", patience, async () => {
  const secret = "sk-ant-api03-ZZZZYYYYXXXXWWWWVVVV0000";
  const pieces = ["The key is sk-ant-api", "03-ZZZZYYYYXXXX", "WWWWVVVV0000, and", " that is all."];
  const scenario = { otherwise: [...pieces.map((say) => ({ say })), { say: " You said: {{prompt}}" }] };
  const proxies = [
    "--proxy",
    `redact --secret ${secret}`,
    "--proxy",
    `tap --out ${join(probe.folder, "redact.trace")}`,
  ];
  const ran = await probe.parley([
    "run",
    "--no-history",
    `my key is ${secret}.`,
    ...proxies,
    "--",
    ...probe.agent(scenario),
  ]);
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /The key is \[secret\], and that is all\. You said: my key is \[secret\]\./);
  const sent = readFileSync(join(probe.folder, "redact.trace"), "utf8")
    .split("\n")
    .filter((line) => line.includes('"from":"client"'));
  assert.ok(sent.length > 2);
  assert.ok(!sent.some((line) => line.includes(secret)));
});

test(
  "a budget of tokens warns once, then stops with a reason, also after a restart, until it is reset",
  patience,
  async () => {
    const tokens = { totalTokens: 45, inputTokens: 40, outputTokens: 5 };
    const agent: Partial<AgentScenario> = { unstable: ["usage"], otherwise: [{ say: "Done." }, { tokens }] };
    const prompt = () => probe.run(agent, ["--proxy", "budget --tokens 100 --per day --warn 40"]);
    const [first, second, third, fourth] = [await prompt(), await prompt(), await prompt(), await prompt()];
    assert.match(first.stdout, /\[budget\] Most of the budget is spent: 45 of 100 tokens today\./);
    assert.deepEqual([first.status, second.status, third.status], [0, 0, 0], first.stderr);
    assert.doesNotMatch(second.stdout + third.stdout, /Most of the budget/);
    assert.equal(fourth.status, 1);
    assert.match(fourth.stdout, /\[budget\] The prompt was not sent: 135 of 100 tokens today\./);
    const reset = await probe.started(["proxy", "--reset", "budget"]);
    assert.equal(reset.stdout, "Forgot what was spent in 1 session or day.\n");
    assert.equal((await prompt()).status, 0);
  },
);

test("a budget of time or cost stops a turn that is running, with the reason", patience, async () => {
  const cost = { amount: 3, currency: "USD" };
  const waiting = [{ wait: "cancelled" }, { end: "cancelled" }] as const;
  for (const [agent, options, words] of [
    [
      { otherwise: waiting },
      "--time 0.2s",
      /\[budget\] This turn is stopped: \d\S* of 0\.2 s in this session\./,
    ],
    [
      { unstable: ["usage"], otherwise: [{ usage: { used: 1, size: 2, cost } }, ...waiting] },
      "--cost 2",
      /\[budget\] This turn is stopped: 3 of 2 USD in this session\./,
    ],
  ] as const) {
    const ran = await probe.run(agent, ["--proxy", `budget ${options}`]);
    assert.equal(ran.status, 130, ran.stderr);
    assert.match(ran.stdout, words);
  }
});

test("a budget is that of its session, also when another run continues the session", patience, async () => {
  const tokens = { totalTokens: 60, inputTokens: 50, outputTokens: 10 };
  const sessions = ["one", "two"].map((sessionId) => ({ sessionId, cwd: probe.cwd }));
  const agent = probe.agent({ unstable: ["usage"], sessions, otherwise: [{ say: "Done." }, { tokens }] });
  const prompt = (session: string) =>
    probe.parley(["run", "hello", "-s", session, "--proxy", "budget --tokens 50", "--", ...agent]);
  assert.match((await prompt("one")).stdout, /Done\./);
  assert.match((await prompt("one")).stdout, /was not sent: 60 of 50 tokens in this session/);
  assert.match((await prompt("two")).stdout, /Done\./);
});

test(
  "an agent that does not report its tokens cannot have a budget of tokens, and the user is told",
  patience,
  async () => {
    const ran = await probe.run(echo, ["--proxy", "budget --tokens 5"]);
    assert.equal(ran.status, 0);
    assert.match(ran.stderr, /budget: the agent did not report the tokens of a turn/);
  },
);

test("notify starts the command when the agent needs the user, and when it is done", patience, async () => {
  const told = join(probe.folder, "told");
  const program = join(probe.folder, "tell");
  writeFileSync(program, `#!/bin/sh\necho "$1" >> '${told}'\n`, { mode: 0o755 });
  const agent = { otherwise: [{ ask: "May I?" }, { say: "Done." }] } as const;
  const ran = await probe.run(agent, ["--proxy", `notify --after 0.001s --command ${program}`]);
  assert.equal(ran.status, 3, ran.stderr);
  const deadline = Date.now() + 20_000;
  const lines = () => {
    try {
      return readFileSync(told, "utf8").trim().split("\n").sort();
    } catch {
      return [];
    }
  };
  // the command runs on its own
  while (lines().length < 2 && Date.now() < deadline) await new Promise((resolve) => setImmediate(resolve));
  assert.match(lines()[0] ?? "", /^The agent is done \(/);
  assert.match(lines()[1] ?? "", /^The agent needs you: May I\? \(/);
});

test("tools gives an agent the tools of a file", patience, async () => {
  const file = join(probe.folder, "house.mjs");
  writeFileSync(
    file,
    `export default [{
      name: "lamp", description: "Switches a lamp.",
      schema: { type: "object", properties: { on: { type: "boolean" } }, required: ["on"] },
      run: ({ on }) => "the lamp is " + (on ? "on" : "off"),
    }];`,
  );
  const reviewer = `echo '{"decision":"allow"}'`;
  const say = (json: string) => `@tool house/lamp ${json}`;
  const run = (prompt: string, tools: string) =>
    probe.parley(["run", "--no-history", "--json", "--reviewer", reviewer, prompt, "--proxy", tools]);
  const ran = await run(say('{"on": true}'), `tools --file ${file}`);
  assert.equal(ran.status, 0, ran.stdout + ran.stderr);
  assert.match(ran.stdout, /the lamp is on/);
  const wrong = await run(say('{"on": "yes"}'), `tools --file ${file}`);
  assert.doesNotMatch(wrong.stdout, /the lamp is/);
  const missing = await run("help", `tools --file ${file}.missing`);
  assert.equal(missing.status, 1);
  assert.match(missing.stdout, /tools.*house\.mjs\.missing/);
});

for (const [chainEdition, otherEdition] of [
  ["v1", "v1"],
  ["v2", "v2"],
  ["v2", "v1"],
  ["v1", "v2"],
] as const) {
  test(
    `route sends prompts to other agents, in sessions of their own (${chainEdition}, the other ${otherEdition})`,
    patience,
    async () => {
      const main: Partial<AgentScenario> = {
        editions: [chainEdition],
        otherwise: [{ say: "main got {{prompt}}" }],
      };
      const file = join(probe.cwd, "asked.txt");
      writeFileSync(file, "from the client");
      const other = probe.agent({
        editions: [otherEdition],
        otherwise: [{ ask: "May I?", as: "may" }, { say: "other got {{prompt}} in {{cwd}}, and {{may}}" }],
      });
      const route = `route --to 'other=${other.join(" ")}' --when review=other`;
      const ran = await probe.parley(
        ["chat", "--plain", "--no-history", "--proxy", route, "--", ...probe.agent(main)],
        { input: "one\n/use other\ntwo\n/use nobody\n/use main\nthree\nplease review\nfour\n" },
      );
      const said = ran.stdout.replaceAll(/\s+/g, " ");
      const order = [
        "main got one",
        "Prompts go to other now.",
        `other got two in ${probe.cwd}`,
        "Prompts go to other. There are: main, other.",
        "Prompts go to main now.",
        "main got three",
        `other got please review in ${probe.cwd}`,
        "main got four",
      ].map((words) => said.indexOf(words));
      assert.ok(!order.includes(-1), `${said}\n${ran.stderr}`);
      assert.deepEqual(
        order,
        [...order].sort((a, b) => a - b),
      );
    },
  );
}

test(
  "Ctrl-C stops the turn of another agent, and one that cannot be started is named",
  patience,
  async () => {
    const other = probe.agent({
      otherwise: [{ say: "working" }, { wait: "cancelled" }, { end: "cancelled" }],
    });
    const ran = await probe.started(
      [
        "run",
        "--json",
        "--no-history",
        "x",
        "--proxy",
        `route --to 'other=${other.join(" ")}' --when x=other`,
        "--",
        ...probe.agent(echo),
      ],
      interruptAt("working"),
    );
    assert.equal(ran.status, 130, ran.stdout + ran.stderr);
    const missing = await probe.run(echo, ["--proxy", "route --to other=/no/such --when hello=other"]);
    assert.equal(missing.status, 1);
    assert.match(
      missing.stderr,
      /other: \/no\/such, the program of such, was not found: there is no such file/,
    );
  },
);

test("a chain of the config file stands in front of --proxy", patience, async () => {
  keep({
    chains: {
      work: ["context --text one", { proxy: "context", args: ["--text", "two words"], onExit: "fail" }],
      own: [{ command: launcher, args: ["proxy", "context --text far"], onExit: "restart" }],
    },
  });
  const ran = await probe.run(echo, ["--proxy", "context --text three", "--chain", "work"]);
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /You said: hello\s*one\s*two words\s*three/);
  const own = await probe.run(echo, ["--chain", "own"]);
  assert.match(own.stdout, /You said: hello\s*far/, own.stderr);
  assert.equal((await probe.parley(["config", "check"])).status, 0);
  const unknown = await probe.run(echo, ["--chain", "wrok"]);
  assert.match(unknown.stderr, /there is no chain wrok in the config file; there are: work, own/);
  keep({});
});

for (const [component, message] of [
  ["", "chains.work[0] must be a text, or an object with either proxy or command, got an empty text"],
  [{}, "chains.work[0] must be a text, or an object with either proxy or command, got an object"],
  [
    { proxy: "redact", onExit: "later" },
    "chains.work[0].onExit must be one of restart, bypass, fail, got another text",
  ],
  [
    { proxy: "nothing" },
    "chains.work[0].proxy must be one of budget, redact, context, tools, route, tap, notify, policy, got nothing",
  ],
  [
    { proxy: "budget", args: ["--time", "5"] },
    "chains.work[0]: budget --time: expected a time such as 90s, 10m or 1h, got 5",
  ],
  [
    { command: "gate", policy: true, onExit: "bypass" },
    "chains.work[0]: gate decides what is allowed, so it cannot be bypassed",
  ],
  [
    { command: "gate", errors: "open" },
    "chains.work[0]: errors is for the proxies that come with Parley; gate handles its own",
  ],
] as const) {
  test(`a chain with ${JSON.stringify(component)}: parley config names the path`, patience, async () => {
    keep({ chains: { work: [component] } });
    const checked = await probe.parley(["config", "check"]);
    keep({});
    const set = await probe.parley(["config", "set", "chains.work", JSON.stringify([component])]);
    for (const ran of [checked, set]) {
      assert.equal(ran.status, 2, ran.stdout);
      assert.ok(ran.stderr.includes(message), ran.stderr);
    }
  });
}

test(
  "a proxy that cannot be started is named once, with what to do, and no process is left",
  patience,
  async () => {
    const noFile = 'could not start "/no/such": there is no such file; check the path, or install it';
    for (const [typed, status, ...lines] of [
      ["/no/such --x", 5, `such --x has gone: ${noFile}`, "check the command of such --x"],
      ["false", 5, "false has gone: false exited with code 1", "check the command of false"],
      [
        "false --token hunter2-hunter2",
        5,
        "false --token [secret 1] has gone: false exited with code 1",
        "check the command of false --token [secret 1]",
      ],
      [
        "budgte --tokens 4",
        2,
        "--proxy: budgte is neither a proxy of Parley nor a program on PATH",
        "the proxies are budget, redact, context, tools, route, tap, notify, policy; see parley proxy",
      ],
    ] as const) {
      const ran = await probe.run(echo, ["--proxy", typed]);
      assert.equal(ran.status, status);
      assert.equal(ran.stderr, lines.map((line) => `parley: ${line}\n`).join(""));
    }
    assert.deepEqual(
      probe.leftovers().filter((pid) => pid !== String(process.pid)),
      [],
    );
  },
);

for (const [onExit, second] of [
  ["restart", /You said: again ?seen by (\d+)/],
  ["bypass", /You said: again(?! ?seen)/],
] as const) {
  test(
    `a proxy that dies in a prompt, with onExit ${onExit}: one error names it, and the next prompt works`,
    patience,
    async () => {
      keep({
        chains: {
          dying: [{ command: process.execPath, args: ["--conditions=parley-source", dying], onExit }],
        },
      });
      const ran = await probe.parley(
        ["chat", "--plain", "--no-history", "--chain", "dying", "--", ...probe.agent(echo)],
        {
          input: "first\ndie now\nagain\n",
        },
      );
      keep({});
      const said = ran.stdout.replaceAll(/\s+/g, " ");
      assert.match(said, /You said: first ?seen by \d+/);
      assert.match(said + ran.stderr, /node --conditions=parley-source dying-proxy\.mjs has gone: /);
      assert.match(said, second);
      assert.deepEqual(probe.leftovers(), []);
    },
  );
}

test("parley proxy is one agent with its proxies, for any client", patience, async () => {
  const agent = [
    "--",
    launcher,
    "proxy",
    "context --text one",
    `${launcher} proxy 'context --text two'`,
    "--",
    ...probe.agent(echo),
  ];
  const ran = await probe.parley(["run", "--no-history", "--json", "hello", ...agent]);
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(String(eventsOf(ran).at(-1)?.["text"]), /You said: hello\s*one\s*two/);
});

test("parley serve serves an agent with proxies in front of it", patience, async (t) => {
  const served = await startServe(t, probe, ["--proxy", "context --text served", "--", ...probe.agent(echo)]);
  const ran = await probe.parley(["run", "--no-history", "hello", "--url", served.url], {
    env: { PARLEY_TOKEN: served.token },
  });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /You said: hello\s*served/);
});

for (const signal of ["SIGTERM", "SIGKILL"] as const) {
  test(`parley proxy that ends by ${signal} leaves no process`, patience, async () => {
    const proxies = ["context --text one", `${launcher} proxy redact`];
    const child = spawn(launcher, ["proxy", ...proxies, "--", ...probe.agent(echo)], {
      cwd: probe.cwd,
      env: { ...process.env, PARLEY_HOME: probe.home, PARLEY_TEST_MARK: `${probe.mark}-${signal}` },
      stdio: ["pipe", "pipe", "ignore"],
    });
    const params = { protocolVersion: 1, clientCapabilities: {} };
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    await once(child.stdout, "data");
    assert.ok(probe.leftovers(`${probe.mark}-${signal}`).length >= 3);
    child.kill(signal);
    await once(child, "exit");
    await until(() => probe.leftovers(`${probe.mark}-${signal}`).length === 0);
  });
}

test("the trace of a chain is shown and replayed as its client saw it", patience, async () => {
  const trace = join(probe.folder, "client-side.trace");
  const chain = ["proxy", "--record", trace, "redact", "context --text one", "--", ...probe.agent(echo)];
  await probe.parley(["run", "--no-history", "hello", "--", launcher, ...chain]);
  const { stdout } = await probe.started(["trace", "show", trace]);
  for (const method of ["initialize", "session/new", "session/prompt"])
    assert.equal(stdout.split(`client → agent  ${method} #`).length - 1, 1, stdout);
  assert.doesNotMatch(stdout, /nobody's request/);
  assert.match(
    stdout,
    /\n# the client's side of a chain with 3 hops; --hops shows what each proxy changed\n$/,
  );
  const asJson = (await probe.started(["trace", "show", trace, "--json"])).stdout.trim().split("\n");
  assert.equal(JSON.parse(asJson.at(-1) ?? "").hops, 3);
  const same = ["--", launcher, "proxy", "redact", "context --text one", "--", ...probe.agent(echo)];
  const replayed = await probe.started(["trace", "replay", trace, "--as", "client", ...same]);
  assert.equal(replayed.status, 0, replayed.stderr);
});

test("parley trace show --hops says which proxy changed, answered and dropped what", patience, async () => {
  const trace = join(probe.folder, "hops.trace");
  const proxies = ["context --text one", "redact --secret hidden-word", "budget --time 10m"];
  const agent = ["--", launcher, "proxy", "--record", trace, ...proxies, "--", ...probe.agent(echo)];
  const ran = await probe.parley(["run", "--no-history", "the hidden-word", ...agent]);
  assert.equal(ran.status, 0, ran.stderr);
  const shown = await probe.started(["trace", "show", trace, "--hops"]);
  assert.match(shown.stdout, /^# the client > context > redact > budget > node\n/);
  const [header = ""] = readFileSync(trace, "utf8").split("\n");
  assert.match(header, /"redact --secret /);
  assert.doesNotMatch(header, /hidden-word/);
  assert.match(
    shown.stdout,
    /session\/prompt.*\n {9}context \/prompt\/1: \+ \{"type":"text","text":"\\n\\none","_meta":\{"_parley\.dev\/name":"instruction"\}\}\n {9}redact \/prompt\/0\/text: "the hidden-word" -> "the \[secret\]"\n/,
  );
  const lines = (await probe.started(["trace", "show", trace, "--hops", "--json"])).stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const changed = lines.filter(({ steps = [] }) => steps.length > 0);
  assert.deepEqual(
    changed.map(({ method, steps }) => [
      method,
      steps.map(({ component }: { component: string }) => component),
    ]),
    [["session/prompt", ["context", "redact"]]],
  );
  assert.equal(lines.at(-1).type, "end");
  const refusing = join(probe.folder, "refusing.trace");
  const spent = ["--record", refusing, "budget --tokens 1 --per day", "redact --secret hidden-word"];
  const pieces = {
    unstable: ["usage"],
    otherwise: [{ say: "hidden" }, { say: "-word." }, { tokens }],
  } as const;
  const again = ["--", launcher, "proxy", ...spent, "--", ...probe.agent(pieces)];
  await probe.started(["proxy", "--reset", "budget"]);
  await probe.parley(["run", "--no-history", "first", ...again]);
  await probe.parley(["run", "--no-history", "second", ...again]);
  const [dropping, answering] = await Promise.all(
    [refusing, refusing.replace(".trace", ".2.trace")].map((file) =>
      probe.started(["trace", "show", file, "--hops"]),
    ),
  );
  assert.match(dropping?.stdout ?? "", /content: "hidden"\n {9}redact did not pass it on\n/);
  assert.match(dropping?.stdout ?? "", /redact \/update\/content\/text: "-word\." -> "\[secret\]\."/);
  assert.match(answering?.stdout ?? "", /budget answered it\n/);
  const plain = join(probe.folder, "plain.trace");
  await probe.run(echo, ["--proxy", `tap --out ${plain}`]);
  const other = await probe.started(["trace", "show", plain, "--hops"]);
  assert.equal(other.status, 1);
  assert.match(other.stderr, /is not the record of a chain/);
});
