// Finds MCP servers that are commands in the messages of clients.

/** Whether a text can have a key that says MCP servers: most have neither, and are not looked at further. */
const suspicious = /mcp|\\u/i;

/**
 * What of a message may be passed on: nothing if it names commands; otherwise what was looked at, and no other reading of
 * its text. Agents read keys that come twice, and keys in other letters, each in its own way.
 */
export function withoutCommands(message: object, text: string): string | undefined {
  if (!suspicious.test(text)) return text;
  return namesCommand(message, false) ? undefined : JSON.stringify(message);
}

function namesCommand(value: unknown, isServer: boolean): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, inner]) => {
    const name = key.toLowerCase().replaceAll(/[_-]/g, "");
    return (isServer && name === "command") || namesCommand(inner, isServer || name === "mcpservers");
  });
}
