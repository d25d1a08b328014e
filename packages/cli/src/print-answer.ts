// How commands answer: prose for people, `{"v":1,"data":…}` for scripts.

/** Prints one of the two, as a whole. */
export function printAnswer(text: string, data: unknown, json: boolean): void {
  process.stdout.write(`${json ? JSON.stringify({ v: 1, data }) : text}\n`);
}
