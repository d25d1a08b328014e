// Entries for tests and benchmarks of the fold.

import type { Entry, EntryBody } from "../../src/model/entry.ts";
import type { SessionUpdate } from "../../src/model/update.ts";

/** Entries as a store would hold them: numbered from `from`, one millisecond apart. */
export function entriesOf(bodies: readonly EntryBody[], from = 1): Entry[] {
  return bodies.map((body, index) => ({ format: 1, seq: from + index, time: 1_000 + from + index, ...body }));
}

export function updates(...list: readonly SessionUpdate[]): Entry[] {
  return entriesOf(list.map((update) => ({ kind: "update", update })));
}

export function text(value: string): { type: "text"; text: string } {
  return { type: "text", text: value };
}

/** A stream of `count` chunks of text, as one agent message or spread over several that interleave. */
export function chunkEntries(count: number, messages = 1): Entry[] {
  return Array.from({ length: count }, (_, index) => ({
    format: 1,
    seq: index + 1,
    time: index,
    kind: "update" as const,
    update: {
      sessionUpdate: "agent_message_chunk" as const,
      messageId: `message-${index % messages}`,
      content: text(`word ${index} `),
    },
  }));
}
