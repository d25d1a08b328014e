// Chains of real processes: what kill -9 does to them, and what is left of them.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import type { Transport } from "../../src/jsonrpc/transport.ts";
import { spawnTransport } from "../../src/node.ts";
import { conductor, type OnExit } from "../../src/proxy.ts";
import { memoryPair } from "../../src/transport/memory.ts";
import { type RawLinePeer, rawLinePeer } from "../support/raw-line-peer.ts";
import { hello, prompt } from "./chained.ts";

/** Reads and writes lines; `on` takes each message. Says on stderr what it has got, so that it can be killed in it. */
const wire = `
  let rest = "";
  const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  process.stdin.on("data", (chunk) => {
    rest += chunk;
    for (let at = rest.indexOf("\\n"); at !== -1; at = rest.indexOf("\\n")) {
      const message = JSON.parse(rest.slice(0, at));
      rest = rest.slice(at + 1);
      process.stderr.write("got " + (message.params?.method ?? message.method ?? "answer") + "\\n");
      on(message);
    }
  });
  process.stdin.on("end", () => process.exit());
`;

/** An agent. The text of a prompt says what it does. HOLD: it never answers initialize. */
const agentProgram = `${wire}
  process.stderr.write("pid " + process.pid + "\\n");
  let open;
  function on({ id, method, params }) {
    if (method === "initialize") {
      if (process.env.HOLD) return;
      return send({ id, result: { protocolVersion: 1, agentCapabilities: { sessionCapabilities: { resume: {} } } } });
    }
    if (method === "session/new") return send({ id, result: { sessionId: "s" } });
    if (method === "session/resume") return send({ id, result: {} });
    if (method === "session/cancel" && open !== undefined) return send({ id: open, result: { stopReason: "cancelled" } });
    if (method !== "session/prompt") return;
    const [{ text }] = params.prompt;
    open = id;
    if (text === "hang") return;
    if (text === "ask") return send({ id: 0, method: "session/request_permission", params: { sessionId: "s", toolCall: {}, options: [] } });
    setTimeout(() => send({ id, result: { stopReason: "end_turn" } }), text === "slow" ? 2000 : 0);
  }
`;

/** A proxy that passes everything. HOLD: it never answers its first message. */
const proxyProgram = `${wire}
  let next = 0;
  const waiting = new Map();
  const pass = (id, method, params) => {
    if (id === undefined) return send({ method, params });
    waiting.set(next, id);
    send({ id: next++, method, params });
  };
  function on({ id, method, params, ...answer }) {
    if (method === undefined) {
      const asked = waiting.get(id);
      waiting.delete(id);
      return send({ ...answer, id: asked });
    }
    if (method === "$/cancel_request") {
      for (const [own, asked] of waiting)
        if (asked === params.requestId) send({ method, params: { requestId: own } });
      return;
    }
    if (method === "proxy/successor") return pass(id, params.method, params.params);
    if (method === "proxy/initialize") {
      if (process.env.HOLD) return;
      return pass(id, "proxy/successor", { method: "initialize", params });
    }
    if (method.endsWith("/initialize")) return send({ id, error: { code: -32601, message: "unknown" } });
    pass(id, "proxy/successor", { method, params });
  }
`;

/** Starts a program, and notes its processes. */
function program(code: string) {
  const pids: number[] = [];
  let heard = "";
  let told = Promise.withResolvers<void>();
  const onStderr = (text: string): void => {
    heard += text;
    told.resolve();
    told = Promise.withResolvers();
  };
  return {
    pids,
    /** What happens to a process when it has been started. */
    started: (_: number): void => undefined,
    env: {} as Record<string, string>,
    start(): Transport {
      const transport = spawnTransport(process.execPath, ["--eval", code], { onStderr, env: this.env });
      const { pid } = transport;
      assert.ok(pid !== undefined);
      pids.push(pid);
      this.started(pid);
      return transport;
    },
    /** Resolves when one of its processes has got this. */
    async got(what: string): Promise<void> {
      while (!heard.includes(`got ${what}\n`)) await told.promise;
      heard = heard.replace(`got ${what}\n`, "");
    },
    kill: () => void process.kill(pids.at(-1) ?? 0, "SIGKILL"),
  };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

type Point = "before" | "during" | "idle" | "prompt" | "question";

/** Sends initialize, and once more if it fails and the chain goes on. */
async function introduce(client: RawLinePeer, again: boolean): Promise<string | undefined> {
  client.request("i", "initialize", hello[1]);
  const { error } = await client.answered("i");
  if (error !== undefined && again) {
    client.request("j", "initialize", hello[1]);
    assert.equal((await client.answered("j")).error, undefined);
  }
  return error?.message;
}

async function killedAt(point: Point, which: "proxy" | "agent", onExit: OnExit): Promise<void> {
  const parts = { proxy: program(proxyProgram), agent: program(agentProgram) };
  const dying = parts[which];
  const isEarly = point === "before" || point === "during";
  // one that ends at its first message is started once more in any case: it may be of an earlier generation
  const isMortal = () => dying.pids.length === 1 || onExit !== "restart";
  if (point === "before") dying.started = () => isMortal() && dying.kill();
  if (point === "during") dying.env = { HOLD: "1" };
  const [near, far] = memoryPair();
  const noticed = Promise.withResolvers<void>();
  const chain = conductor(
    [
      { name: "the proxy", start: () => parts.proxy.start(), onExit: which === "proxy" ? onExit : "fail" },
      { name: "the agent", start: () => parts.agent.start(), onExit: which === "agent" ? onExit : "fail" },
    ],
    { log: (_, message) => void (message.endsWith("has gone") && noticed.resolve()) },
  );
  const connection = chain.connect(far);
  const client = rawLinePeer(near);
  if (point === "during") void killHeld();
  async function killHeld(): Promise<void> {
    const firsts = { proxy: ["proxy/initialize", "_proxy/initialize"], agent: ["initialize"] }[which];
    for (const first of firsts) {
      await dying.got(first);
      if (onExit === "restart") dying.env = {};
      dying.kill();
      if (onExit === "restart") return;
    }
  }
  const failed = await introduce(client, isEarly && onExit !== "fail" && which === "agent");
  const named = new RegExp(`^the ${which} has gone`);
  if (isEarly && (onExit === "fail" || which === "agent")) assert.match(failed ?? "", named);
  else assert.equal(failed, undefined);
  if (!(isEarly && onExit === "fail")) {
    client.request("n", "session/new", { cwd: "/", mcpServers: [] });
    await client.answered("n");
    if (point === "prompt" || point === "question") {
      client.request("p", "session/prompt", prompt("s", point === "prompt" ? "hang" : "ask"));
      await parts.agent.got("session/prompt");
      if (point === "question") await client.asked("session/request_permission");
      dying.kill();
      const { error } = await client.answered("p");
      assert.match(error?.message ?? "", named);
      if (point === "question" && onExit !== "fail") await client.asked("$/cancel_request");
    } else if (point === "idle") {
      dying.kill();
      await noticed.promise;
    }
    if (onExit !== "fail") {
      client.request("next", "session/prompt", prompt("s", "go"));
      assert.deepEqual((await client.answered("next")).result, { stopReason: "end_turn" });
    }
  }
  if (onExit === "fail") assert.match((await connection.closed).message, named);
  await chain.close();
  await connection.closed;
  const left = [...parts.proxy.pids, ...parts.agent.pids].filter(isRunning);
  assert.deepEqual(left, [], "processes are left");
  const answers = client.got.filter(({ id, method }) => id === "p" && method === undefined);
  assert.ok(answers.length <= 1);
}

for (const [which, policies] of [
  ["proxy", ["restart", "bypass", "fail"]],
  ["agent", ["restart", "fail"]],
] as const) {
  for (const onExit of policies) {
    test(`kill -9 of the ${which} at any time: one error with its name, no process left, then ${onExit} (P26)`, async () => {
      const points: readonly Point[] = ["before", "during", "idle", "prompt", "question"];
      await Promise.all(
        points.map((point) =>
          killedAt(point, which, onExit).catch((error: unknown) => {
            throw new Error(point, { cause: error });
          }),
        ),
      );
    });
  }
}

const library = (name: string) => JSON.stringify(new URL(`../../src/${name}.ts`, import.meta.url).href);

/** A chain in a process of its own: two proxies of ours, one of them a process, in front of the agent. */
const chainProgram = (agentCode: string) => `
  import { conductor, proxy } from ${library("proxy")};
  import { serveStdio, spawnTransport } from ${library("node")};
  const onStderr = (text) => process.stderr.write(text);
  const program = (code, ...args) => () => spawnTransport(process.execPath, [...args, "--eval", code], { onStderr });
  process.stderr.write("pid " + process.pid + "\\n");
  await serveStdio(conductor([
    proxy({ name: "first", version: "1", update: () => undefined }),
    program(${JSON.stringify(ourProxyProgram())}, "--input-type=module"),
    program(${JSON.stringify(agentCode)}),
  ]));
`;

function ourProxyProgram(): string {
  return `
  import { proxy } from ${library("proxy")};
  import { serveStdio } from ${library("node")};
  process.stderr.write("pid " + process.pid + "\\n");
  await serveStdio(proxy({ name: "second", version: "1", turnEnd: () => undefined }));
`;
}

const lines = (words: string) =>
  [
    { id: 1, method: "initialize", params: hello[1] },
    { id: 2, method: "session/new", params: { cwd: "/", mcpServers: [] } },
    { id: 3, method: "session/prompt", params: prompt("s", words) },
  ]
    .map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
    .join("");

test("a client that closes stdin gets the answers that it is still owed, and no process is left", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", chainProgram(agentProgram)], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  let [out, errors] = ["", ""];
  child.stdout.on("data", (chunk) => (out += chunk));
  child.stderr.on("data", (chunk) => (errors += chunk));
  child.stdin.end(lines("slow"));
  const code = await new Promise((resolve) => child.once("close", resolve));
  const answers = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id?: number; result?: object });
  assert.deepEqual(answers.find(({ id }) => id === 3)?.result, { stopReason: "end_turn" }, out + errors);
  assert.equal(code, 0);
  const pids = [...errors.matchAll(/^pid (\d+)$/gm)].map(([, pid]) => Number(pid));
  assert.equal(pids.length, 3, errors);
  assert.deepEqual(pids.filter(isRunning), []);
});

test("a client that is killed leaves no process", async () => {
  const clientProgram = `
    import { spawn } from "node:child_process";
    const child = spawn(process.execPath, ["--input-type=module", "--eval", ${JSON.stringify(chainProgram(agentProgram))}], { stdio: ["pipe", "ignore", "inherit"] });
    child.stdin.write(${JSON.stringify(lines("hang"))});
  `;
  const client = spawn(process.execPath, ["--input-type=module", "--eval", clientProgram], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  // the processes behind it have its stderr: it ends with the last of them
  const ended = new Promise((resolve) => client.stderr.once("end", resolve));
  await new Promise<void>((resolve) => {
    client.stderr.on("data", (chunk) => {
      errors += chunk;
      if (errors.includes("got session/prompt")) resolve();
    });
  });
  client.kill("SIGKILL");
  await ended;
  const pids = [...errors.matchAll(/^pid (\d+)$/gm)].map(([, pid]) => Number(pid));
  assert.equal(pids.length, 3, errors);
  while (pids.some(isRunning)) await new Promise(setImmediate);
});
