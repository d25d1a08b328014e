// Drops the agent's response to `initialize` if it was already sent from the cache; otherwise caches it.

import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Transport } from "@parley/acp";
import { wrapSink, wrapTransport } from "@parley/acp/internal";
import { codeFolder } from "../settings/installation.ts";
import type { Greeting } from "./agent-greeting.ts";

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
}

export function afterGreeting(transport: Transport, { answered, keep }: Greeting): Transport {
  let isOver = false;
  let request: Message | undefined;
  const send: Transport["send"] = (message, text) => {
    if (isOver || request === undefined) return transport.send(message, text);
    const { id, method, result } = message as Message;
    if (method !== undefined || id !== request.id) return transport.send(message, text);
    isOver = true;
    if (answered === undefined) {
      // errors are not cached
      if (result !== undefined) setImmediate(keep, request.params, result, codeFiles());
      return transport.send(message, text);
    }
    if (JSON.stringify(result) !== answered.result) {
      console.error("parley agent: the cached handshake was wrong and is replaced");
      keep(request.params, result, codeFiles());
    }
    return true;
  };
  return wrapTransport(transport, {
    start: (sink) =>
      transport.start(
        wrapSink(sink, {
          message(value, text) {
            const message = value as Message | null;
            if (request === undefined) request = message?.method === "initialize" ? message : {};
            sink.message(value, text);
          },
        }),
      ),
    send,
    lines: () => undefined,
  });
}

/** The files that affect the answer. */
function codeFiles(): string[] {
  const folders = ["@parley/acp", "@parley/agent"].map((name) =>
    dirname(fileURLToPath(import.meta.resolve(name))),
  );
  const files = [...folders, codeFolder].flatMap((folder) => [
    join(folder, "../package.json"),
    ...readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  ]);
  return files.filter((file) => /\.(?:ts|js|json)$/.test(file) && !isForTests.test(file));
}

const isForTests = /\.test\.ts$|\.d\.ts$|\/testing\//;
