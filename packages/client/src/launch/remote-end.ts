// What to do about the end of a remote connection. Apart from what connects, which takes long to load.

/**
 * Suggests a fix after the end of a remote connection. Returns undefined if the error does not say why it ended.
 *
 * @example
 * import { connectAgent } from "@parley/client";
 * import { endHint } from "@parley/client/launch";
 *
 * try {
 *   await connectAgent({ url: "wss://agents.example.com/acp" }, { name: "my-app", version: "1.0.0" });
 * } catch (error) {
 *   console.error(error, endHint(error));
 * }
 */
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
