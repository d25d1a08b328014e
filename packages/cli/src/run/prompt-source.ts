// Where the prompt comes from: the arguments, a file, stdin, or several of them.

import { fstatSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { usageError } from "../command-error.ts";
import { printable } from "../printable.ts";

export interface PromptSource {
  /** What stood on the command line. "-" is stdin. */
  readonly words: readonly string[];
  /** --file; "-" is stdin. */
  readonly file: string | undefined;
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

export async function readPrompt(
  { words, file, isAlone = false }: PromptSource,
  notice: (text: string) => void,
): Promise<PromptText> {
  if (isAlone) return { text: words.join(" "), piped: "" };
  const typed = words.filter((word) => word !== "-").join(" ");
  const isAsked = words.includes("-") || file === "-";
  const written = file === undefined || file === "-" ? "" : await readPromptFile(file);
  const text = [typed, written].filter((part) => part.trim() !== "").join("\n\n");
  const piped = isAsked || text === "" ? await allOfStdin(isAsked) : await whatIsPiped(notice);
  if (`${text}${piped}`.trim() === "") {
    throw usageError(
      "there is no prompt",
      'give one: parley run "what to do", parley run --file FILE, or pipe it in; see parley help run',
    );
  }
  return { text, piped };
}

async function readPromptFile(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException; // of fs, which has no other errors
    throw usageError(
      `--file ${printable(file)} cannot be read: ${code}`,
      "give a file of text, or - for stdin",
    );
  }
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
    if (bytes > maxBytes) {
      throw usageError(
        `more than ${maxBytes / 1024 / 1024} MiB came on stdin`,
        "put it into a file of the project and mention that",
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
