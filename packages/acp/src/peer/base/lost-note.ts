// The note in a message of what was lost in translation.

/** The key of `_meta` that lists what was lost, in sentences for people. */
const lostKey = "parley.dev/lost";

/** The same message with a note of what it lost. */
export function withLost<Message extends object>(message: Message, lost: readonly string[]): Message {
  if (lost.length === 0) return message;
  const { _meta } = message as { _meta?: object | null };
  return { ...message, _meta: { ..._meta, [lostKey]: lost } };
}
