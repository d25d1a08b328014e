// How commands answer: prose for people, `{"v":1,"data":…}` for scripts.

import { exitOnClosedOutput } from "./closed-output.ts";
import { jsonText } from "./json-text.ts";

/** Prints one of the two, as a whole. */
export function printAnswer(text: string, data: unknown, json: boolean): void {
  exitOnClosedOutput();
  process.stdout.write(`${json ? jsonText({ v: 1, data }) : text}\n`);
}
