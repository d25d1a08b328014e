// Why nothing can be stored in a folder, for people: what, where, what to do.

/** By the codes that node:fs and git give. */
const known: readonly (readonly [codes: RegExp, what: string, advice: string])[] = [
  [/ENOSPC|No space left/, "the disk is full", "free some space"],
  [/EDQUOT|[Qq]uota exceeded/, "your quota of this disk is used up", "free some space"],
  [/EACCES|EPERM|Permission denied/, "you may not write there", "give yourself the right to write there"],
  [/EROFS|Read-only file system/, "this disk is read-only", "use a folder that can be written"],
  [/ENOTDIR|EEXIST|Not a directory/, "something that is no folder is in its place", "move it away"],
  [/EMFILE|ENFILE|Too many open files/, "too many files are open", "raise the limit of open files"],
];

/** The error with a message that says what to do. What nobody knows stays as it is. */
export function folderProblem(folder: string, error: unknown): Error {
  const said = error instanceof Error ? error.message : String(error);
  const [, what, advice] = known.find(([codes]) => codes.test(said)) ?? [];
  if (what === undefined) return new Error(`cannot store in ${folder}: ${said}`, { cause: error });
  return new Error(`cannot store in ${folder}: ${what}; ${advice}`, { cause: error });
}
