// The floor that everything is measured against: JSON over a pipe, no checks, nothing else.
import type { Readable, Writable } from "node:stream";

/** JSON.stringify per message, joined, written in pieces of 64 KiB. `false` means: wait for "drain". */
export function sender(output: Writable): (message: object) => boolean {
  let text = "";
  const flush = () => {
    const piece = text;
    text = "";
    return piece === "" || output.write(piece);
  };
  return (message) => {
    if (text === "") process.nextTick(flush);
    text += `${JSON.stringify(message)}\n`;
    return text.length < 65_536 || flush();
  };
}

/** One decode per chunk, JSON.parse per line. */
export function receive<Message>(input: Readable, handle: (message: Message) => void): void {
  let rest = "";
  input.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = chunk.split("\n");
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? "";
    for (const line of lines) handle(JSON.parse(line));
  });
}
