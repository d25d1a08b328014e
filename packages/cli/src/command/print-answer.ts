// Prints the result of a command: text for people, `{"v":1,"data":…}` for scripts.

import { escapedJson } from "../terminal/sanitise.ts";
import { exitOnClosedOutput } from "./closed-output.ts";

export function printAnswer(text: string, data: unknown, json: boolean): void {
  exitOnClosedOutput();
  process.stdout.write(`${json ? escapedJson({ v: 1, data }) : text}\n`);
}
