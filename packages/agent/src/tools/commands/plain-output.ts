// Converts terminal output to plain text: no escape sequences, no overwritten progress lines.

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const controls = /[\u0000-\u0008\u000b-\u000c\u000e-\u001f\u007f]/g;

export function plainOutput(output: string): string {
  const text = output.replace(escapes, "");
  const lines = text.includes("\r") ? text.split("\n").map(lastWritten).join("\n") : text;
  return lines.replace(controls, "");
}

function lastWritten(line: string): string {
  const end = line.endsWith("\r") ? line.replace(/\r+$/, "") : line;
  return end.slice(end.lastIndexOf("\r") + 1);
}
