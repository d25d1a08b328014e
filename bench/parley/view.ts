// The view's fold over the chunks of one long message, as entries from a store or a wire.

import { applyEntry, createView } from "@parley/acp/view";
import { runBatches } from "../memory-work.ts";
import { chunkEntry } from "../messages.ts";

let view = createView();

await runBatches((from, count) => {
  // a new session now and then, so that the text of one message does not fill the heap
  if (from % 100_000 === 0) view = createView();
  for (let i = 0; i < count; i += 1) applyEntry(view, chunkEntry(view.seq + 1));
});
