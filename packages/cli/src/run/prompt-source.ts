// Where the prompt comes from: the arguments, a file, stdin, or several of them.

import { isUtf8 } from "node:buffer";
import { fstatSync } from "node:fs";
import { usageError } from "../command/command-error.ts";
import { readSource, TooLargeError } from "../settings/read-source.ts";
import { escapedLine } from "../terminal/sanitise.ts";

export interface PromptSource {
  /** What stood on the command line. "-" is stdin. */
  readonly words: readonly string[];
  /** --file, in their order; "-" is stdin. */
  readonly files: readonly string[];
  /** The words are all of it, whatever stdin is. */
  readonly isAlone?: boolean;
}

export interface PromptText {
  /** The user's own words: mentions in them are looked up. */
  readonly text: string;
  /** What was piped in: it may be anybody's, so nothing in it is looked up. */
  readonly piped: string;
}

/** How long a pipe that nobody said to read may stay silent: programs often leave one open without meaning it. */
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
    const piped = isAsked || text === "" ? await allOfStdin(isAsked) : await whatIsPiped(notice);
    signal.throwIfAborted();
    if (`${text}${piped}`.trim() !== "") return { text, piped };
  } catch (error) {
    // a stream that was destroyed says that it was; why is known here
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
  throw usageError(
    "there is no prompt",
    'give one: parley run "what to do", parley run --file FILE, or pipe it in; see parley help run',
  );
}

async function readPromptFile(file: string, signal: AbortSignal): Promise<string> {
  const what = `--file ${escapedLine(file)}`;
  try {
    // in somebody's own words a line ends as it does everywhere else
    return textOf(await readSource(file, { maxBytes, signal }), what).replaceAll("\r\n", "\n");
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TooLargeError) throw tooMuch(what);
    const { code } = error as NodeJS.ErrnoException; // of fs, or a usage error
    if (code === undefined || code === "usage") throw error;
    throw usageError(`${what} cannot be read: ${code}`, "give a file of text, or - for stdin");
  }
}

/** Agents get text; what is none would reach them as rubbish. */
function textOf(bytes: Buffer, what: string): string {
  if (isUtf8(bytes) && !bytes.includes(0)) return bytes.toString("utf8");
  throw usageError(
    `${what} is no text in UTF-8`,
    "show the agent an image with --image FILE; any other file can be mentioned as @FILE",
  );
}

function tooMuch(what: string): Error {
  return usageError(
    `${what} has more than ${maxBytes / 1024 / 1024} MiB`,
    "put it into a file of the project and mention that as @FILE",
  );
}

async function allOfStdin(isAsked: boolean): Promise<string> {
  if (process.stdin.isTTY) {
    if (!isAsked) return "";
    process.stderr.write("Type the prompt; end it with Ctrl-D.\n");
  }
  return readAll();
}

/** Beside a prompt that was typed: a file or a pipe is part of it, a terminal is not. */
async function whatIsPiped(notice: (text: string) => void): Promise<string> {
  if (process.stdin.isTTY || !isPipeOrFile()) return "";
  const first = await firstEvent(silenceMs);
  if (first === "silence") {
    process.stdin.destroy();
    notice(
      `stdin is a pipe on which nothing came for ${silenceMs / 1000} s: going on without it. Close it (</dev/null), or give - to wait for it`,
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
    // closed by whoever started us
    return false;
  }
}

function firstEvent(ms: number): Promise<"data" | "silence"> {
  return new Promise((resolve) => {
    const done = (what: "data" | "silence") => () => {
      clearTimeout(timer);
      process.stdin.off("readable", heard);
      resolve(what);
    };
    const heard = done("data");
    const timer = setTimeout(done("silence"), ms);
    // also when it has ended
    process.stdin.once("readable", heard);
  });
}

async function readAll(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooMuch("what came on stdin");
    chunks.push(chunk);
  }
  return textOf(Buffer.concat(chunks), "what came on stdin");
}
