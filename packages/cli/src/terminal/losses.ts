// What a log says is lost in translation between editions.

/** The losses in the details of a log entry, in words for a person. */
export function lossesIn(details: unknown): readonly string[] {
  const { lost } = (details ?? {}) as { lost?: unknown };
  return Array.isArray(lost) ? lost.map(String) : [];
}
