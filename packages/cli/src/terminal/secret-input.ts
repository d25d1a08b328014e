// Reads a secret: typed without echo, or the first line of a pipe.

import { stripVTControlCharacters } from "node:util";

const maxLength = 16_384;

/** Undefined if the user cancelled or the input ended. */
export async function askSecret(question: string): Promise<string | undefined> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) return firstLine(stdin);
  // turn echo off before the question appears
  stdin.setRawMode(true);
  stderr.write(question);
  try {
    return await typed(stdin);
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write("\n");
  }
}

function typed(stdin: NodeJS.ReadStream): Promise<string | undefined> {
  return new Promise((resolve) => {
    let secret = "";
    const finish = (answer: string | undefined): void => {
      stdin.off("data", take);
      stdin.off("end", ended);
      resolve(answer);
    };
    const ended = (): void => finish(undefined);
    const take = (chunk: Buffer): void => {
      // terminals send pasted text and special keys with escape sequences
      for (const character of stripVTControlCharacters(chunk.toString())) {
        if (character === "\r" || character === "\n") return finish(secret);
        if (character === "\u0003" || character === "\u0004") return finish(undefined);
        if (character === "\u007f" || character === "\b") secret = secret.slice(0, -1);
        else if (character === "\u0015") secret = "";
        else if (secret.length < maxLength) secret += character;
      }
    };
    stdin.on("data", take);
    stdin.on("end", ended);
    stdin.resume();
  });
}

async function firstLine(input: NodeJS.ReadStream): Promise<string | undefined> {
  let text = "";
  for await (const chunk of input) {
    text += String(chunk);
    if (text.includes("\n") || text.length > maxLength) break;
  }
  const line = text.split(/\r?\n/)[0] ?? "";
  return line === "" ? undefined : line;
}
