// Leaves the credentials of a login out of a trace: they are in no record, not even in a raw one.

/** As bytes of every line that has credentials. */
const mark = Buffer.from('credentials"');
const isCredentials = /^(?:credentials|_parley\.dev\/credentials)$/;

export function mayHaveCredentials(bytes: Buffer): boolean {
  return bytes.includes(mark);
}

/** The same line with every value of its credentials replaced. What cannot be read is left out from there on. */
export function withoutCredentials(line: string): string {
  try {
    const value: unknown = JSON.parse(line);
    const clean = JSON.stringify(value, (key, item: unknown) =>
      isCredentials.test(key) ? hidden(item) : item,
    );
    return clean === JSON.stringify(value) ? line : clean;
  } catch {
    // a line that is too long, or no JSON
    const at = line.search(/"(?:_parley\.dev\/)?credentials"\s*:/);
    return at < 0 ? line : line.slice(0, at);
  }
}

function hidden(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hidden);
  if (typeof value !== "object" || value === null) return value === null ? null : "[redacted]";
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, hidden(item)]));
}
