// Makes an agent that speaks a dialect fit a client that understands less: no text of a file in an encoding that the client would
// take for the file itself.

import { isObject } from "../../base/objects.ts";
import { encodingKey } from "../../base/parley-extensions.ts";
import { type Dialect, type DialectTransport, dialectOf, understands } from "../../edition/dialect.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import { wrapSink, wrapTransport } from "../../transport/wrap-transport.ts";

/** The messages of the agent, in the shapes of version 1. Nothing changes where the client understands encodings. */
export function dialectAgent(agent: Transport, clientDialect: () => Dialect | undefined): DialectTransport {
  const wrapped = wrapTransport(agent, {
    start(sink) {
      const message = (value: unknown, text: string): void => {
        const refused = understands(clientDialect(), encodingKey) ? undefined : encodingOf(value);
        if (refused === undefined) sink.message(value, text);
        else agent.send(refused);
      };
      agent.start(wrapSink(sink, { message }));
    },
  });
  return Object.defineProperty(wrapped as DialectTransport, "dialect", { get: () => dialectOf(agent) }); // by this
}

/** The answer to a request for a file in an encoding that version 1 does not have; undefined for other messages. */
function encodingOf(value: unknown): object | undefined {
  if (!isObject(value) || value["id"] === undefined || !isObject(value["params"])) return undefined;
  const { id, method } = value;
  if (method !== "fs/read_text_file" && method !== "fs/write_text_file") return undefined;
  const { _meta: meta } = value["params"];
  const encoding = isObject(meta) ? meta[encodingKey] : undefined;
  if (encoding === undefined) return undefined;
  const message = `${method}: the client has no encoding but UTF-8, got ${JSON.stringify(encoding)}; use a command instead`;
  const { code, data } = new RequestError("method_not_found", message, {
    data: { reason: "method_not_found", method },
  });
  return { jsonrpc: "2.0", id, error: { code, message, data } };
}
