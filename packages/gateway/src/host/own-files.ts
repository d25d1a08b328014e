// Keeps a hosted agent to the files and commands of its own machine: those of a client are on another one. An agent that
// was offered both would read here and write there.

import type { Transport } from "@parley/acp";
import { isObject } from "@parley/acp/jsonrpc";
import { wrapSink, wrapTransport } from "@parley/acp/transport";

const methodNotFound = -32601;
const words =
  "the agent works with the files and commands of its own machine, not with those of the client; --client-files would allow it";
/** Where the editions have what a client can do. */
const places = ["clientCapabilities", "capabilities"];

/** The agent's transport. It is told of no files and terminals of its client, and cannot use them. */
export function withOwnFiles(agent: Transport): Transport {
  return wrapTransport(agent, {
    send(message, text) {
      const told = withoutFiles(message);
      return told === message ? agent.send(message, text) : agent.send(told);
    },
    start: (sink) =>
      agent.start(
        wrapSink(sink, {
          message(value, text) {
            if (!isObject(value) || !/^(?:fs|terminal)\//.test(String(value["method"])))
              return sink.message(value, text);
            const { id } = value;
            // some agents write without waiting for an answer
            if (id !== undefined)
              agent.send({ jsonrpc: "2.0", id, error: { code: methodNotFound, message: words } });
          },
        }),
      ),
  });
}

function withoutFiles(message: object): object {
  if (!isObject(message) || message["method"] !== "initialize" || !isObject(message["params"]))
    return message;
  const params = { ...message["params"] };
  for (const place of places) {
    const can = params[place];
    if (!isObject(can)) continue;
    const { fs: _, terminal: __, ...rest } = can;
    params[place] = rest;
  }
  return { ...message, params };
}
