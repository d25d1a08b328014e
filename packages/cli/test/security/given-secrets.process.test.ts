// Every secret that parley is given, by each way in which it can be given one, is looked for in everything that parley keeps,
// shares or tells by itself. The agent behind it does its worst: it repeats all of them, in all that it says.

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import type { AgentScenario } from "@parley/conformance/testing";
import { patience, type Ran, RunProbe } from "../support/run-probe.ts";

const probe = new RunProbe();

/** Of no pattern: only who was given them can know what they are. */
const canaries = {
  "a variable of the environment": "alder-brook-01",
  "an address in the environment": "birch-lake-02",
  "a stored key": "cedar-ridge-03",
  "a stored login": "dogwood-vale-04",
  "env of an agent": "elder-heath-05",
  "headers of an agent": "hazel-copse-06",
  "args of an agent": "juniper-fell-07",
  "address of an agent": "larch-grove-08",
  "env of an MCP server": "maple-creek-09",
  "headers of an MCP server": "oak-meadow-10",
  "args of an MCP server": "pine-marsh-11",
  "address of an MCP server": "rowan-dale-12",
  "key of a provider": "spruce-hill-13",
  "headers of a provider": "thorn-field-14",
  "env of --mcp": "walnut-ford-15",
  "headers of --mcp": "willow-bank-16",
  "address of --mcp": "yew-hollow-17",
  "args of --mcp": "zelkova-pass-18",
  "a typed argument": "aspen-cliff-19",
} as const;
const all = Object.values(canaries);
const at = (name: keyof typeof canaries) => canaries[name];

/** Where a key is kept is no secret. */
const keyFile = probe.cwd;
const env = {
  ACME_CREDENTIALS: keyFile,
  ACME_API_KEY: at("a variable of the environment"),
  ACME_DATABASE: `postgres://ann:${at("an address in the environment")}@127.0.0.1/db`,
};

/** Those that are typed for one command are known to that command alone, and to what it keeps. */
const typedFor = (source: string, what: "--mcp" | "argument") => source.endsWith(what);
const ofMachine = Object.entries(canaries).flatMap(([source, canary]) =>
  typedFor(source, "--mcp") || typedFor(source, "argument") ? [] : [canary],
);
const ofRun = all.filter((canary) => canary !== at("a typed argument"));

/** It says them in whole words, and in pieces that none of them shows. */
function talkative(known: readonly string[], version: 1 | 2): Partial<AgentScenario> {
  const spoken = known.join(" then ");
  const pieces = spoken.match(/.{1,7}/gs) ?? [];
  return {
    editions: [`v${version}`],
    mcpCapabilities: { http: true },
    name: `named ${spoken}`,
    title: `called ${spoken}`,
    open: {
      configOptions: [
        {
          configId: known[0]!,
          name: spoken,
          type: "select",
          currentValue: known[0]!,
          options: known.map((value) => ({ value, name: value })),
        },
      ],
      availableCommands: [{ type: "command", name: "leak", description: spoken }],
    },
    otherwise: [
      { think: `thought ${spoken}` },
      ...pieces.map((say) => ({ say })),
      {
        tool: { title: `ran ${spoken}`, kind: "execute", rawInput: { command: spoken } },
        steps: [{ add: `added ${spoken}` }, { display: { command: spoken }, output: pieces }, { ask: true }],
        rawOutput: { printed: spoken },
      },
      { run: { command: "/bin/echo", args: [...known] } },
      { notice: { severity: "warning", title: spoken } },
      { title: `about ${spoken}` },
      { fail: { code: -32603, message: `failed with ${spoken}`, data: { details: spoken } } },
    ],
  };
}

const mcp = {
  mcpServers: {
    typed: {
      command: "true",
      args: ["--api-key", at("args of --mcp")],
      env: { LOGIN: at("env of --mcp") },
    },
    far: {
      url: `http://127.0.0.1:9/?token=${at("address of --mcp")}`,
      headers: { Authorization: `Bearer ${at("headers of --mcp")}` },
    },
  },
};
const typed = ["--token", at("a typed argument")];
const command = (version: 1 | 2 = 1) => [...probe.agent(talkative(all, version)), ...typed];

function give(): void {
  const [program, ...args] = probe.agent(talkative(ofRun, 2));
  const write = (folder: string, name: string, value: object) => {
    mkdirSync(join(probe.home, folder), { recursive: true });
    writeFileSync(join(probe.home, folder, name), JSON.stringify(value));
  };
  write("data", "credentials.json", { keys: { acme: at("a stored key") } });
  write("data", "agent-credentials.json", { mine: { ACME_LOGIN: at("a stored login") } });
  write("config", "config.json", {
    agents: {
      mine: {
        command: program,
        args: [...args, "--password", at("args of an agent")],
        env: { SETTING: at("env of an agent") },
        // it has none: the notice says what it has
        mode: "plan",
      },
      checked: {
        command: program,
        // too short to be looked for anywhere else
        args: [...probe.agent(talkative(ofMachine, 1)).slice(1), "--password", "pw-1"],
      },
      far: {
        transport: "websocket",
        url: `ws://ann:${at("address of an agent")}@127.0.0.1:9/`,
        headers: { Authorization: `Basic ${btoa(`ann:${at("headers of an agent")}`)}` },
      },
    },
    client: {
      // so that commands are refused, wherever this runs
      sandbox: "off",
      mcpServers: {
        tool: {
          command: "true",
          args: [`--auth=${at("args of an MCP server")}`],
          env: { SETTING: at("env of an MCP server") },
        },
        web: {
          url: `http://127.0.0.1:9/?key=${at("address of an MCP server")}`,
          headers: { "X-Tenant": at("headers of an MCP server") },
        },
      },
    },
    agent: {
      providers: {
        acme: {
          kind: "openai",
          baseUrl: "http://127.0.0.1:9/v1",
          apiKey: at("key of a provider"),
          headers: { "X-Org": at("headers of a provider") },
        },
      },
    },
  });
}

before(give);

const parley = (args: readonly string[]): Promise<Ran> => probe.started(args, { env });
const both = ({ stdout, stderr }: Ran) => stdout + stderr;
const whole = async (...args: string[]) => both(await parley(args));

/** One run that is recorded and refused, with everything that can be typed. */
async function run(...args: string[]): Promise<Ran> {
  const ran = await parley(["run", "--mcp", JSON.stringify(mcp), "--verbose", ...args]);
  assert.notEqual(ran.status, 2, ran.stderr);
  return ran;
}
const sessionIds = async (): Promise<string[]> => {
  const { stdout } = await parley(["sessions", "list", "--json"]);
  const { data } = JSON.parse(stdout) as { data: { sessions: { id: string }[] } };
  return data.sessions.map(({ id }) => id);
};
const ofEverySession = async (...args: string[]) => {
  const found = [];
  for (const id of await sessionIds()) found.push(await whole("sessions", ...args, id));
  return found.join("\n");
};

/** By what must hold none of them. Each says something that shows that it was not empty. */
const outputs: Readonly<Record<string, readonly [told: () => Promise<string>, shows: RegExp]>> = {
  "run --format json, an agent of the config": [
    async () => both(await run("-a", "mine", "--format", "json", "go")),
    /"type":"end".*failed with \[secret/,
  ],
  "run --format json, a typed command": [
    async () => both(await run("--format", "json", "go", "--", ...command())),
    /"type":"end".*failed with \[secret/,
  ],
  // its words to the user are on stdout
  "stderr of run": [
    async () => (await run("go", "--", ...command())).stderr,
    /returned an error: failed with \[secret/,
  ],
  "stderr of run, where the agent dies": [
    async () => {
      const script = `console.error(${JSON.stringify(all.join(" "))}); process.exit(3)`;
      return (await run("go", "--", process.execPath, "-e", script, "x", ...typed)).stderr;
    },
    /ended before it could be used/,
  ],
  "stderr of run, where the agent cannot be reached": [
    async () => (await run("-a", "far", "go")).stderr,
    /^parley: far/,
  ],
  "permissions list": [
    async () => {
      const rule = `exec curl -u ${at("a stored key")}`;
      const added = await parley(["permissions", "add", "allow", rule]);
      assert.equal(added.status, 0, added.stderr);
      return whole("permissions", "list");
    },
    /exec curl -u '?\[secret/,
  ],
  "sessions list": [() => whole("sessions", "list"), /about \[secret/],
  "sessions list --json": [() => whole("sessions", "list", "--json"), /"--token","\[secret/],
  "sessions show": [() => ofEverySession("show"), /ran \[secret/],
  "sessions show --json": [() => ofEverySession("show", "--json"), /"kind":"prompt"/],
  "sessions search": [() => whole("sessions", "search", "then"), /secret/],
  "sessions search --json": [() => whole("sessions", "search", "then", "--json"), /"snippet"/],
  "sessions search for one of them": [() => whole("sessions", "search", all[0]!), /Nothing found/],
  "sessions export": [() => ofEverySession("export"), /\[secret \d+\]/],
  "sessions export --format json": [() => ofEverySession("export", "--format", "json"), /\[secret \d+\]/],
  "permissions log": [() => whole("permissions", "log"), /exec .*echo \[secret/],
  "the audit logs themselves": [
    async () => {
      const folder = join(probe.home, "state/audit");
      return readdirSync(folder)
        .map((name) => readFileSync(join(folder, name), "utf8"))
        .join("\n");
    },
    /"kind":"refused"/,
  ],
  "the history itself": [
    async () => {
      const folder = join(probe.home, "data");
      const files = readdirSync(folder).filter((name) => name.startsWith("history.db"));
      const bytes = files.map((name) => readFileSync(join(folder, name), "latin1")).join("\n");
      // the words that start an agent again have to be there as they are
      return bytes.replaceAll(/"--token","[^"]*"/g, "");
    },
    /failed with \[secret/,
  ],
  "agents list --json": [() => whole("agents", "list", "--json"), /"--password","\[secret/],
  "agents check": [() => whole("agents", "check", "--no-tools", "checked"), /called \[secret/],
  "agents check --json": [
    () => whole("agents", "check", "--no-tools", "--json", "checked"),
    /called \[secret/,
  ],
  doctor: [() => whole("doctor", "--agent", "checked", "--no-tools", "--timeout", "20"), /called \[secret/],
  "config show": [() => whole("config", "show"), /"SETTING": "\(hidden\)"/],
  "config get of a list": [
    async () => {
      const told = await whole("config", "get", "agents.checked.args");
      assert.doesNotMatch(told, /pw-1/);
      return told;
    },
    /--password/,
  ],
  "config get of a word": [() => whole("config", "get", "agents.mine.args.4"), /^\[secret 1\]\n$/],
  "the hint of a refusal": [
    async () => {
      const refused = probe.agent({
        editions: ["v1"],
        mcpCapabilities: { http: true },
        otherwise: [{ run: { command: "/bin/echo", args: all } }],
      });
      const { status, stderr } = await run("--no-history", "go", "--", ...refused, ...typed);
      assert.equal(status, 3, stderr);
      return stderr;
    },
    /--allow .*echo \[secret/,
  ],
  "an error of what was typed": [
    () => whole("run", "go", "--mcp", `{"mcpServers":{"x":{"env":{"K":${at("env of --mcp")}}}}}`),
    // the parser repeats a piece of it
    /--mcp: Unexpected token 'w'\n/,
  ],
  "an error that repeats an argument": [
    () => whole("agents", "list", at("a variable of the environment")),
    /takes no arguments, got \[secret 1\]/,
  ],
  "trace redact": [
    async () => {
      const file = join(probe.folder, "trace.ndjson");
      const line = JSON.stringify({
        jsonrpc: "2.0",
        method: "_x",
        params: { said: [...ofMachine, at("a typed argument")].join(" ") },
      });
      const records = [
        { parley: "trace", version: 1, command: command(), started: "2026-01-01T00:00:00.000Z" },
        { t: 1, from: "client", bytes: Buffer.byteLength(line) + 1, text: line },
        { t: 2, event: "stderr", bytes: 1, text: ofMachine.join(" ") },
      ];
      writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
      return whole("trace", "redact", file);
    },
    /said\W+\[?secret/,
  ],
};

for (const [output, [told, shows]] of Object.entries(outputs)) {
  test(`no secret that was given is in: ${output} (TH25)`, patience, async () => {
    const text = await told();
    assert.ok(shows.test(text), `${shows} is not in ${text.slice(-2_000)}`);
    const left = Object.entries(canaries).filter(
      ([, canary]) => text.includes(canary) || text.includes(btoa(canary)),
    );
    assert.deepEqual(left, []);
  });
}

test("what only looks like a secret is taken out of errors", patience, async () => {
  const key = ["sk", "proj", "Abc123Def456Ghi789Jkl012"].join("-");
  const failure = { code: -32603, message: "no", data: { details: `bad key ${key}` } };
  const { stderr } = await probe.run([{ fail: failure }]);
  assert.match(stderr, /bad key \[secret 1\]/);
});

test("where a key is kept is told as it is", patience, async () => {
  const { stdout } = await parley(["run", "--json", "--no-history", "x", "--", ...command()]);
  assert.ok(stdout.includes(`"cwd":"${keyFile}"`), stdout);
});

test("to the user who reads it the agent's own words are what it said", patience, async () => {
  const { stdout } = await run("--no-history", "go", "--", ...command());
  for (const canary of all) assert.ok(stdout.includes(canary), canary);
  const quiet = await run("--no-history", "--format", "quiet", "go", "--", ...command());
  assert.ok(quiet.stdout.includes(all.join(" then ")));
});
