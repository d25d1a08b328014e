// The floor of a view: find the message by its id and append the text.

import { runBatches } from "../memory-work.ts";
import { chunkEntry } from "../messages.ts";

let messages = new Map<string, { text: string }>();
let seq = 0;

await runBatches((from, count) => {
  if (from % 100_000 === 0) messages = new Map();
  for (let i = 0; i < count; i += 1) {
    seq += 1;
    const { messageId, content } = chunkEntry(seq).update;
    const message = messages.get(messageId);
    if (message === undefined) messages.set(messageId, { text: content.text });
    else message.text += content.text;
  }
});
