// The floor in memory: each message to JSON text and back, no checks.

import { runBatches } from "../memory-work.ts";
import { v2ToolUpdate } from "../messages.ts";

let handled = 0;

await runBatches((from, count) => {
  for (let i = from; i < from + count; i += 1) {
    const text = JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: v2ToolUpdate(i) });
    if (JSON.parse(text).params.update !== undefined) handled += 1;
  }
  if (handled !== from + count) throw new Error(`wanted ${from + count} messages, got ${handled}`);
});
