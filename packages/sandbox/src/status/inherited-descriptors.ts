// Finds the files that whoever started this process has left open. A command would inherit them, and a folder among them
// leads out of any sandbox. Node closes those that it finds, but stops searching at the first gap after 15.

import { readdirSync, readFileSync } from "node:fs";

let found: readonly number[] | undefined;

/** Their numbers. Those that Node opens later are closed when a program starts. */
export function inheritedDescriptors(): readonly number[] {
  found ??= search();
  return found;
}

function search(): readonly number[] {
  const numbers = readdirSync("/proc/self/fdinfo").map(Number);
  return numbers.filter((number) => number > 2 && isInherited(number)).sort((one, other) => one - other);
}

function isInherited(number: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, "utf8"))?.[1] ?? "0";
    return (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    return false; // the one that lists the folder
  }
}

/** O_CLOEXEC of Linux. */
const closeOnExec = 0o2000000;
