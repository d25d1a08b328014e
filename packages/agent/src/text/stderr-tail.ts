// Picks the lines of a failed program's stderr that go into a message.

const stderrLines = 5;
const stderrChars = 500;

/** The last lines that say something: without stack frames, which would push the error out. */
export function stderrTail(stderr: string): string {
  const lines = stderr
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => !/^(?:\s*|\s+at .*|Node\.js v[\d.]+)$/.test(line));
  return lines
    .slice(-stderrLines)
    .map((line) => (line.length > stderrChars ? `${line.slice(0, stderrChars)}…` : line))
    .join("\n");
}
