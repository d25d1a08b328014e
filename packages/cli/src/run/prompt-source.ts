// Reads the prompt from the arguments, files and stdin.

import { isUtf8 } from "node:buffer";
import { fstatSync } from "node:fs";
import { usageError } from "../command/command.ts";
import { readSource, TooLargeError } from "../settings/read-source.ts";
import { escapedLine } from "../terminal/sanitise.ts";

export interface PromptSource {
  /** The arguments; "-" is stdin. */
  readonly words: readonly string[];
  /** The values of --file; "-" is stdin. */
  readonly files: readonly string[];
  /** Ignore stdin. */
  readonly isAlone?: boolean;
}

export interface PromptText {
  /** Typed by the user: mentions in it are looked up. */
  readonly text: string;
  /** Piped text: mentions in it are ignored, since it may come from anybody. */
  readonly piped: string;
}

/** How long to wait for a pipe that was not asked for: programs often leave one open. */
const silenceMs = 2_000;
const maxBytes = 16 * 1024 * 1024;

/** Rejects with a usage error, or with the signal's reason. */
export async function readPrompt(
  { words, files, isAlone = false }: PromptSource,
  notice: (text: string) => void,
  signal: AbortSignal,
): Promise<PromptText> {
  if (isAlone) return { text: words.join(" "), piped: "" };
  const typed = words.filter((word) => word !== "-").join(" ");
  const isAsked = words.includes("-") || files.includes("-");
  const written = [];
  for (const file of files) if (file !== "-") written.push(await readPromptFile(file, signal));
  const text = [typed, ...written].filter((part) => part.trim() !== "").join("\n\n");
  const stop = () => process.stdin.destroy();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const piped = isAsked || text === "" ? await allOfStdin(isAsked) : await pipedText(notice);
    signal.throwIfAborted();
    if (`${text}${piped}`.trim() !== "") return { text, piped };
  } catch (error) {
    // the abort is the reason for a destroyed stream
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
  throw usageError(
    "expected a prompt",
    'type one: parley run "what to do"; or use --file FILE, or pipe it; see parley help run',
  );
}

async function readPromptFile(file: string, signal: AbortSignal): Promise<string> {
  const what = `--file ${escapedLine(file)}`;
  try {
    return textOf(await readSource(file, { maxBytes, signal }), what).replaceAll("\r\n", "\n");
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TooLargeError) throw tooMuch(what);
    const { code } = error as NodeJS.ErrnoException; // of fs, or a usage error
    if (code === undefined || code === "usage") throw error;
    throw usageError(`cannot read ${what}: ${code}`, "give a text file, or - for stdin");
  }
}

function textOf(bytes: Buffer, what: string): string {
  if (isUtf8(bytes) && !bytes.includes(0)) return bytes.toString("utf8");
  throw usageError(
    `${what} is not UTF-8 text`,
    "attach images with --image FILE; mention any other file as @FILE",
  );
}

function tooMuch(what: string): Error {
  return usageError(
    `${what} is larger than ${maxBytes / 1024 / 1024} MiB`,
    "save it as a file in the project and mention it as @FILE",
  );
}

async function allOfStdin(isAsked: boolean): Promise<string> {
  if (process.stdin.isTTY) {
    if (!isAsked) return "";
    process.stderr.write("Type the prompt; end it with Ctrl-D.\n");
  }
  return readAll();
}

/** A file or a pipe is attached to a typed prompt; a terminal is not read. */
async function pipedText(notice: (text: string) => void): Promise<string> {
  // asked first, because process.stdin takes 5 ms to make
  if (!isPipeOrFile()) return "";
  const first = await firstEvent(silenceMs);
  if (first === "silence") {
    process.stdin.destroy();
    notice(
      `no data on stdin for ${silenceMs / 1000} s: continuing without it. Close it (</dev/null), or use - to wait for it`,
    );
    return "";
  }
  return readAll();
}

function isPipeOrFile(): boolean {
  try {
    const facts = fstatSync(0);
    return facts.isFIFO() || facts.isFile() || facts.isSocket();
  } catch {
    // closed
    return false;
  }
}

function firstEvent(ms: number): Promise<"data" | "silence"> {
  return new Promise((resolve) => {
    const done = (what: "data" | "silence") => () => {
      clearTimeout(timer);
      process.stdin.off("readable", onReadable).off("close", onReadable);
      resolve(what);
    };
    const onReadable = done("data");
    const timer = setTimeout(done("silence"), ms);
    // also emitted at the end
    process.stdin.once("readable", onReadable);
    // an aborted run closes it
    process.stdin.once("close", onReadable);
  });
}

async function readAll(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooMuch("stdin");
    chunks.push(chunk);
  }
  return textOf(Buffer.concat(chunks), "stdin");
}
