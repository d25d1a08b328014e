// What is said of a remote agent that cannot be reached.

/**
 * What a user is told about a remote agent that cannot be reached. `keptMs` is how long its server keeps the connection.
 *
 * @example
 * import { cutText } from "@parley/client/launch";
 *
 * console.log(cutText({ keptMs: 600_000 }));
 */
export function cutText({ keptMs }: { readonly keptMs: number }): string {
  const time = keptMs < 60_000 ? `${Math.ceil(keptMs / 1_000)} s` : `${Math.round(keptMs / 60_000)} min`;
  return `connection lost, trying again for up to ${time}; Ctrl-C to stop`;
}
