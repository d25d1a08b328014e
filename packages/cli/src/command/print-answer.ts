// How commands answer: prose for people, `{"v":1,"data":…}` for scripts.

import { jsonText } from "./json-text.ts";
import { leaveWithReader } from "./reader-gone.ts";

/** Prints one of the two, as a whole. */
export function printAnswer(text: string, data: unknown, json: boolean): void {
  leaveWithReader();
  process.stdout.write(`${json ? jsonText({ v: 1, data }) : text}\n`);
}
