// Counts the source files that run between the bytes of a prompt and the call of its handler.

import assert from "node:assert/strict";
import { Session } from "node:inspector";
import { Duplex, PassThrough } from "node:stream";
import { test } from "node:test";
import { agent } from "../../index.ts";
import { streamTransport } from "../../node/transports.ts";
import { memoryStore } from "../../store.ts";

const source = new URL("../../", import.meta.url).href;

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly count: number }[];
    }[];
  }[];
}

/** Names the files of which a function ran since the last call. */
function filesThatRan(profiler: Session): string[] {
  let covered: Coverage | undefined;
  // it answers before `post` returns
  profiler.post("Profiler.takePreciseCoverage", (_, answer) => {
    covered = answer as Coverage;
  });
  const ran = covered?.result.filter(
    ({ url, functions }) =>
      url.startsWith(source) &&
      url !== import.meta.url &&
      url !== shared &&
      functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0),
  );
  const files = (ran ?? []).map(({ url }) => url.slice(source.length).replace(storeFile, "the store"));
  return [...new Set(files)].sort();
}

/** What the validators of both versions share was part of each of them when the files were first counted. */
const shared = new URL("../../validation/shapes.gen.ts", import.meta.url).href;

/** A store counts as one file, because applications bring their own. */
const storeFile = /^log\/(?!log-writer).*/;

/** It was 47 and 45 once. In version 2 the answer and the echo of the message leave before the handler starts. */
const limits = { 1: 30, 2: 30 } as const;

for (const version of [1, 2] as const) {
  test(`a prompt of version ${version} passes few files on its way to the handler`, async () => {
    const profiler = new Session();
    profiler.connect();
    profiler.post("Profiler.enable");
    profiler.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    let files: readonly string[] = [];
    const input = new PassThrough();
    const output = new PassThrough();
    const mine = agent({
      name: "a",
      version: "1",
      session: { store: memoryStore() },
      prompt() {
        files = filesThatRan(profiler);
      },
    });
    const socket = Duplex.from({ readable: input, writable: output });
    const { closed } = mine.connect(streamTransport(socket));
    const answers = readLines(output);
    const ask = async (id: number, method: string, params: object): Promise<Record<string, unknown>> => {
      input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      for (;;) {
        const { value } = await answers.next();
        const line = JSON.parse(String(value)) as { id?: number; result?: Record<string, unknown> };
        if (line.id === id) return line.result ?? {};
      }
    };
    await ask(
      0,
      "initialize",
      version === 1
        ? { protocolVersion: 1, clientCapabilities: {} }
        : { protocolVersion: 2, capabilities: {}, info: { name: "c", version: "1" } },
    );
    const { sessionId } = await ask(1, "session/new", { cwd: "/", mcpServers: [] });
    for (let id = 2; id < 12; id += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      filesThatRan(profiler);
      await ask(id, "session/prompt", { sessionId, prompt: [{ type: "text", text: "x" }] });
    }
    input.end();
    await closed;
    profiler.disconnect();
    assert.ok(files.includes("peer/agent/served-session.ts"), "the coverage saw the path");
    assert.ok(files.length <= limits[version], `${files.length} files:\n${files.join("\n")}`);
  });
}

async function* readLines(stream: PassThrough): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of stream) {
    rest += String(chunk);
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
