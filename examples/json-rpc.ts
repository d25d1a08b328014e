// Uses JSON-RPC without ACP: two connections in one process, with a request, a cancel, an error and a batch.

import { RequestError } from "@parley/acp";
import { Connection, type Handlers } from "@parley/acp/jsonrpc";
import { memoryPair } from "@parley/acp/transport";

const [left, right] = memoryPair();

const handlers: Handlers = {
  request(method, params, request) {
    if (method === "double") return Number(params) * 2;
    if (method === "sleep")
      return new Promise((_, reject) => (request.signal.onabort = () => reject(request.signal.reason)));
    throw new RequestError("method_not_found", "method not found", { data: { method } });
  },
  notification(method) {
    console.log("notified:", method);
  },
};

const server = new Connection(right, { handlers });
const client = new Connection(left, { handlers });

console.log("double 21:", await client.request("double", 21));

const abort = new AbortController();
const sleeping = client.request("sleep", undefined, { signal: abort.signal });
abort.abort();
await sleeping.catch((error: RequestError) => console.log("sleep:", error.code, error.message));

await client.request("unknown").catch((error: RequestError) => console.log("unknown:", error.code));

const answers = client.batch([
  { method: "double", params: 1 },
  { method: "hello", notification: true },
  { method: "double", params: 2 },
]);
console.log("batch:", await Promise.all(answers));

await client.close();
console.log("server:", (await server.closed).kind);

// prints:
// double 21: 42
// sleep: -32800 cancelled by the peer
// unknown: -32601
// notified: hello
// batch: [ 2, undefined, 4 ]
// server: closed
