// What is said of a remote agent that cannot be reached.

/** `keptMs` is how long its server keeps the connection. */
export function cutText({ keptMs }: { readonly keptMs: number }): string {
  const time = keptMs < 60_000 ? `${Math.ceil(keptMs / 1_000)} s` : `${Math.round(keptMs / 60_000)} min`;
  return `connection lost, trying again for up to ${time}; Ctrl-C to stop`;
}
