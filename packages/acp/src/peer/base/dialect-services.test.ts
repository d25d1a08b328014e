// Files and terminals of a client with what only dialects can say, and what becomes of it without a dialect.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  inDialect,
  openSession,
  type Pair,
  plainV1,
  rejects,
  type Wire,
} from "../../../test/support/peer-probe.ts";
import type { ClientDefinition, TerminalHandle, Terminals, Turn } from "../../index.ts";
import type { ReadTextOptions, TerminalOutputPart, WriteTextOptions } from "../../model.ts";

/** A terminal by hand, which keeps what it is asked. */
function handTerminals() {
  const asked: unknown[] = [];
  const listeners = new Set<(part: TerminalOutputPart) => void>();
  const exit = Promise.withResolvers<{ exitCode: number }>();
  const terminals: Terminals = {
    async create({ signal: _, ...options }) {
      asked.push(["create", options]);
      const handle: TerminalHandle = {
        terminalId: "t1",
        pid: 4321,
        output: async () => ({ output: "", truncated: false }),
        onOutput(listener) {
          listeners.add(listener);
          listener({ data: "early " });
          return () => listeners.delete(listener);
        },
        async waitForExit({ signal, timeoutMs } = {}) {
          asked.push(["wait", timeoutMs]);
          if (timeoutMs !== undefined) return { timedOut: true };
          const given = Promise.withResolvers<never>();
          signal?.addEventListener("abort", () => {
            asked.push(["wait cancelled"]);
            given.reject(signal.reason);
          });
          return Promise.race([exit.promise, given.promise]);
        },
        kill: async (options) => void asked.push(["kill", options]),
        release: async () => void asked.push(["release"]),
      };
      return handle;
    },
  };
  const write = (part: TerminalOutputPart): void => {
    for (const listener of listeners) listener(part);
  };
  return { terminals, asked, write, exit: () => exit.resolve({ exitCode: 3 }), listeners };
}

/** Runs one turn with the client's services. */
async function turnWith<Result>(
  pair: Pair,
  services: Pick<ClientDefinition, "files" | "terminals">,
  work: (client: Turn["client"]) => Promise<Result>,
): Promise<{ result: Result; wire: readonly Wire[] }> {
  let result: Result | undefined;
  const { session, wire } = await openSession(
    pair,
    {
      async prompt(turn) {
        result = await work(turn.client);
      },
    },
    services,
  );
  await session.prompt("go");
  return { result: result as Result, wire };
}

const withTerminal =
  <Result>(work: (terminal: TerminalHandle) => Promise<Result>, options: { timeoutMs?: number } = {}) =>
  async ({ terminals }: Turn["client"]): Promise<Result> => {
    assert.ok(terminals);
    const terminal = await terminals.create({ command: "make", ...options });
    try {
      return await work(terminal);
    } finally {
      await terminal.release();
    }
  };

test("a client's terminal tells its process, takes limits and signals in a dialect", async () => {
  const { terminals, asked } = handTerminals();
  const work = withTerminal(
    async (terminal) => {
      const waited = await terminal.waitForExit({ timeoutMs: 10 });
      await terminal.kill({ signal: "SIGINT" });
      return { pid: terminal.pid, waited };
    },
    { timeoutMs: 5_000 },
  );
  const { result } = await turnWith(inDialect, { terminals }, work);
  assert.deepEqual(result, { pid: 4321, waited: { timedOut: true } });
  const [[, created] = []] = asked as [string, { timeoutMs?: number }][];
  assert.equal(created?.timeoutMs, 5_000);
  assert.deepEqual(asked.slice(1), [["wait", 10], ["kill", { signal: "SIGINT" }], ["release"]]);
});

test("output is pushed after create is answered and before the exit, in the dialect that has it", async () => {
  const { terminals, write, exit, listeners } = handTerminals();
  const work = withTerminal(async (terminal) => {
    const parts: TerminalOutputPart[] = [];
    const first = Promise.withResolvers<void>();
    const remove = terminal.onOutput?.((part) => {
      parts.push(part);
      first.resolve();
    });
    const over = terminal.waitForExit();
    await first.promise;
    write({ data: "more", stream: "stderr" });
    exit();
    assert.deepEqual(await over, { exitCode: 3 });
    remove?.();
    const late: TerminalOutputPart[] = [];
    terminal.onOutput?.((part) => late.push(part));
    return { parts, late };
  });
  const { result, wire } = await turnWith(inDialect, { terminals }, work);
  const all = [{ data: "early " }, { data: "more", stream: "stderr" }];
  assert.deepEqual(result, { parts: all, late: all });
  const methods = wire.map(({ message }) => message["method"] ?? Object.keys(message["result"] ?? {})[0]);
  assert.ok(methods.indexOf("terminalId") < methods.indexOf("_parley.dev/terminal_output"));
  assert.equal(listeners.size, 0, "the release ends the pushing");
});

test("to an agent of v1 no output is pushed, and its handle has no onOutput", async () => {
  const { terminals, write, listeners } = handTerminals();
  const work = withTerminal(async (terminal) => {
    write({ data: "unheard" });
    return [terminal.onOutput, listeners.size];
  });
  const { result, wire } = await turnWith(plainV1, { terminals }, work);
  assert.deepEqual(result, [undefined, 0]);
  assert.ok(!JSON.stringify(wire).includes("_parley.dev/terminal_output"));
});

test("on v1 the agent's side ends a wait after its limit, and the command goes on", async () => {
  const { terminals, asked } = handTerminals();
  const work = withTerminal((terminal) => terminal.waitForExit({ timeoutMs: 1 }));
  const { result, wire } = await turnWith(plainV1, { terminals }, work);
  assert.deepEqual(result, { timedOut: true });
  assert.deepEqual(asked.slice(1), [["wait", undefined], ["wait cancelled"], ["release"]]);
  assert.ok(!JSON.stringify(wire.filter(({ from }) => from === "agent")).includes("_parley.dev"));
});

test("on v1 a limited wait ends in time at a client that ignores cancellation", async () => {
  const { terminals, exit } = handTerminals();
  const create: Terminals["create"] = async (options) => {
    const terminal = await terminals.create(options);
    return { ...terminal, waitForExit: () => terminal.waitForExit() };
  };
  const work = withTerminal(async (terminal) => {
    const waited = await terminal.waitForExit({ timeoutMs: 1 });
    exit();
    return waited;
  });
  const { result } = await turnWith(plainV1, { terminals: { create } }, work);
  assert.deepEqual(result, { timedOut: true });
});

test("on v1 the agent's side kills a command after its limit", async () => {
  const { terminals, asked, exit } = handTerminals();
  const killed = Promise.withResolvers<void>();
  const create: Terminals["create"] = async (options) => {
    const terminal = await terminals.create(options);
    const kill: TerminalHandle["kill"] = async (given) => {
      await terminal.kill(given);
      exit();
      killed.resolve();
    };
    return { ...terminal, kill };
  };
  const work = withTerminal((terminal) => terminal.waitForExit(), { timeoutMs: 1 });
  const { result } = await turnWith(plainV1, { terminals: { create } }, work);
  await killed.promise;
  assert.deepEqual(result, { exitCode: 3 });
  assert.deepEqual(asked[0], ["create", { command: "make", args: [], env: {} }]);
});

test("on v1 a signal is refused with a word on what to do", async () => {
  const { terminals, asked } = handTerminals();
  const work = withTerminal((terminal) =>
    terminal.kill({ signal: "SIGINT" }).catch((error: Error) => error.message),
  );
  const { result } = await turnWith(plainV1, { terminals }, work);
  assert.equal(
    result,
    'kill: this client speaks v1, which has no place for the signal "SIGINT"; call kill() without a signal',
  );
  assert.deepEqual(asked.slice(1), [["release"]]);
});

function handFiles() {
  const asked: unknown[] = [];
  const files = {
    async readText(path: string, { encoding }: ReadTextOptions = {}) {
      asked.push(["read", path, encoding]);
      return "aGk=";
    },
    async writeText(path: string, content: string, { encoding, overwrite }: WriteTextOptions = {}) {
      asked.push(["write", path, content, encoding, overwrite]);
    },
  };
  return { files, asked };
}

test("encodings and overwrite reach the client's files in a dialect", async () => {
  const { files, asked } = handFiles();
  const { wire } = await turnWith(inDialect, { files }, async ({ files: its }) => {
    await its?.readText("/a", { encoding: "base64" });
    await its?.writeText("/a", "aGk=", { encoding: "base64", overwrite: false });
    await its?.writeText("/a", "hi", { encoding: "utf-8", overwrite: true });
  });
  assert.deepEqual(asked, [
    ["read", "/a", "base64"],
    ["write", "/a", "aGk=", "base64", false],
    ["write", "/a", "hi", undefined, undefined],
  ]);
  const read = wire.find(
    ({ message }) => (message["result"] as { content?: string } | undefined)?.content === "aGk=",
  );
  assert.deepEqual(read?.message["result"], { content: "aGk=", _meta: { "_parley.dev/encoding": "base64" } });
});

test("on v1 encodings and overwrite are refused, and nothing is sent", async () => {
  const { files, asked } = handFiles();
  await turnWith(plainV1, { files }, async ({ files: its }) => {
    const missing = (work: Promise<unknown> | undefined) => rejects(work ?? Promise.resolve(), -32601);
    await missing(its?.readText("/a", { encoding: "base64" }));
    await missing(its?.writeText("/a", "x", { encoding: "latin1" }));
    await missing(its?.writeText("/a", "x", { overwrite: false }));
  });
  assert.deepEqual(asked, []);
});

test("a policy decides about the text that base64 stands for, and is told what is no text", async () => {
  const { files } = handFiles();
  const seen: unknown[] = [];
  let said: Turn["client"] | undefined;
  const { session } = await openSession(
    inDialect,
    {
      async prompt({ client }) {
        said = client;
        await client.files?.writeText("/a", btoa("hello"), { encoding: "base64" });
        await client.files?.writeText("/a", btoa("\xff\xfe\0"), { encoding: "base64" });
      },
    },
    {
      files,
      policy: {
        decide(request) {
          if (request.type === "write") seen.push(request.content);
          return "allow";
        },
      },
    },
  );
  await session.prompt("go");
  assert.ok(said);
  assert.deepEqual(seen, ["hello", "(binary data, 3 bytes)"]);
});
