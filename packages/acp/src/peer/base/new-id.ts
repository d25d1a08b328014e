// Ids for sessions, messages, tool calls and questions: 72 random bits, safe in URLs and file names.

export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(9));
  return Array.from(bytes, (byte) => byte.toString(36).padStart(2, "0")).join("");
}
