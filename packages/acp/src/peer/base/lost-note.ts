// The note in a message of what was lost in translation.

import { lostKey } from "../../base/parley-extensions.ts";

/** The same message with a note of what it lost. */
export function withLost<Message extends object>(message: Message, lost: readonly string[]): Message {
  if (lost.length === 0) return message;
  const { _meta } = message as { _meta?: object | null };
  return { ...message, _meta: { ..._meta, [lostKey]: lost } };
}
