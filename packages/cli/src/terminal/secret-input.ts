// A secret from the user: typed or pasted without being shown, or the first line of a pipe.

import { stripVTControlCharacters } from "node:util";

const maxLength = 16_384;

/** Nothing where the user gave up or the input ended first. */
export async function askSecret(question: string): Promise<string | undefined> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) return firstLine(stdin);
  // the echo is off before the question is there to be answered
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
      stdin.off("end", gone);
      resolve(answer);
    };
    const gone = (): void => finish(undefined);
    const take = (chunk: Buffer): void => {
      // terminals put marks around what is pasted, and send other keys as such sequences too
      for (const character of stripVTControlCharacters(chunk.toString())) {
        if (character === "\r" || character === "\n") return finish(secret);
        if (character === "\u0003" || character === "\u0004") return finish(undefined);
        if (character === "\u007f" || character === "\b") secret = secret.slice(0, -1);
        else if (character === "\u0015") secret = "";
        else if (secret.length < maxLength) secret += character;
      }
    };
    stdin.on("data", take);
    stdin.on("end", gone);
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
