// Raw session/update notifications for oddities.

/** A session/update with this update, valid or not. */
export function sessionUpdate(update: object): object {
  return { jsonrpc: "2.0", method: "session/update", params: { sessionId: "{{session}}", update } };
}

export function textChunk(text: string, kind = "agent_message_chunk"): object {
  return sessionUpdate({ sessionUpdate: kind, content: { type: "text", text } });
}
