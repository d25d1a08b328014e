// What to do about the end of a remote connection. Apart from what connects, which takes long to load.

/** What to do when a connection that was open has ended, if its last words say why. */
export function endHint(error: unknown): string | undefined {
  const { message } = error as { readonly message?: unknown };
  const words = String(message);
  if (/shut down|shuts down/.test(words))
    return "the server was shut down: connect again when it runs; the sessions of the agent can be loaded";
  if (/unknown connection/.test(words))
    return "the server was started again, or has given up waiting: connect again; the sessions of the agent can be loaded";
  if (/keeps a connection no longer/.test(words))
    return "the server has given the connection up: connect again; the sessions of the agent can be loaded";
  return undefined;
}
