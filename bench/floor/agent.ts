// An agent on the floor: answers by hand, checks nothing.

import { promptResult, workOf } from "../agent-work.ts";
import { initializeResult, sessionId } from "../messages.ts";
import { receive, sender } from "./ndjson.ts";

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: { readonly prompt: { readonly type: string }[] };
}

const send = sender(process.stdout);
const drained = () => new Promise<void>((resolve) => process.stdout.once("drain", () => resolve()));

async function prompt(id: number, blocks: { readonly type: string }[]): Promise<void> {
  const { params, count } = workOf(blocks);
  for (let i = 0; i < count; i += 1) {
    if (!send({ jsonrpc: "2.0", method: "session/update", params: params(i) })) await drained();
  }
  send({ jsonrpc: "2.0", id, result: promptResult() });
}

receive<Request>(process.stdin, ({ id, method, params }) => {
  if (method === "session/prompt")
    void prompt(id, params.prompt); // cannot fail: no checks
  else if (method === "session/set_mode") send({ jsonrpc: "2.0", id, result: {} });
  else send({ jsonrpc: "2.0", id, result: method === "initialize" ? initializeResult() : { sessionId } });
});
