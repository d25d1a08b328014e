// Names what the fields of a tool call's input mean, and finds them wherever agents put them.

import { isObject } from "@parley/acp/jsonrpc";

/** What is beside a field. */
interface Beside {
  /** Something in the input is a command. */
  readonly runs: boolean;
  /** The same object has a field that means this. */
  has(meaning: string): boolean;
}

/** Whether all of a value is understood. */
type Reader = (value: unknown, beside: Beside) => boolean;

const isLine: Reader = (value) => typeof value === "string" || isWords(value);
const isPlace: Reader = (value) => isWords(listed(value));
const isOfFiles: Reader = (_, { runs }) => !runs;

/** By the name of the field in small letters, without `_` and `-`. The recorded agents are in test/claims. */
const meanings = {
  // a line, or a program and its words
  command: [/^(?:command|cmd|argv|shellcommand|commandline)$/, isLine],
  // each one is a command of its own
  lines: [
    /^(?:commands|cmds|scripts?)$/,
    (value) => listed(value).every((line) => typeof line === "string" || isWords(line) || isObject(line)),
  ],
  words: [
    /^(?:args|arguments)$/,
    (value, { has }) => (has("command") ? typeof value === "string" || isWords(value) : isObject(value)),
  ],
  directory: [/^(?:cwd|workdir|workingdir|workingdirectory)$/, isPlace],
  // the directory of a command, else a path
  place: [/^(?:dirpath|directory|dir|folder)$/, isPlace],
  variables: [/^(?:env|environment)$/, (value) => typeof value === "object"],
  // our own agent asks to leave its sandbox
  outside: [/^outside$/, (value) => typeof value === "boolean"],
  path: [
    /^(?:(?:abs|absolute|file|notebook|old|new|target|source|destination|dest|from|to|directory|folder|relativeworkspace)?(?:path|file|uri|filename)s?|source|destination|from|to|directories|parentdir)$/,
    isOfFiles,
  ],
  address: [/^(?:urls?|href|address|host|hostname|domain|endpoint)$/, isOfFiles],
  // what only a change needs
  content: [
    /^(?:contents?|new(?:string|text|str|source|content)|old(?:string|text|str)|edits?|patch(?:text)?|diff|replacement|inserttext|filetext)$/,
    isOfFiles,
  ],
  // a record of paths, or a list
  changes: [/^changes$/, isOfFiles],
  pattern: [
    /^(?:patterns?|globs?|include|exclude|query|queries|regex)$/,
    (value, { runs }) =>
      !runs && listed(value).every((text) => typeof text === "string" && !leaves.test(text)),
  ],
  server: [/^server(?:name|id)?$/, (value, { has }) => typeof value === "string" && has("tool")],
  tool: [
    /^tool(?:name)?$/,
    (value, { runs }) =>
      !runs || (typeof value === "string" && /bash|shell|terminal|exec|run|command/i.test(value)),
  ],
  mode: [/^mode(?:id)?$/, (value, { runs }) => !runs || value === "sync" || value === "async"],
  wrapper: [
    /^(?:params|parameters|input|toolinput|requests?)$/,
    (value) => listed(value).every(isObject) || (typeof value === "string" && patchedPaths(value).length > 0),
  ],
  // which part of a file is meant, and in which form
  detail: [
    /^(?:instruction|prompt|format|encoding|type|outputmode|cell(?:id|type)|editmode|pages)$/,
    isOfFiles,
  ],
  // says why, how long or for whom, never what
  harmless: [
    /^(?:description|explanation|reason|justification|(?:timeout|delay|yieldtime|initialwait)(?:ms|seconds)?|(?:runin|is)?background|detach|maxoutputtokens|(?:call|turn|process)id|startedatms)$/,
    (value) => typeof value !== "object",
  ],
  // what codex makes of the command
  restated: [/^(?:parsedcmd|availabledecisions|proposedexecpolicyamendment)$/, () => true],
} as const satisfies Readonly<Record<string, readonly [RegExp, Reader]>>;

export type Meaning = keyof typeof meanings;

export interface Field {
  readonly key: string;
  readonly value: unknown;
  /** Undefined: nobody here knows what it does. */
  readonly meaning: Meaning | undefined;
}

/** The fields of one object of the input. */
export type Fields = readonly Field[];

const maxDepth = 6;
const maxFields = 5_000;

/** The fields of the input and of each object in it: some agents wrap it, and some list several inputs. */
export function fieldsOf(input: unknown): readonly Fields[] {
  const found: Fields[] = [];
  let left = maxFields;
  const visit = (value: unknown, depth: number): void => {
    if (typeof value !== "object" || value === null || left < 0) return;
    const entries = isObject(value) ? Object.entries(value) : [];
    left -= 1 + entries.length;
    if (depth > maxDepth || left < 0) return void found.push(unseen);
    const fields = entries.map(([key, each]) => ({ key, value: each, meaning: meaningOf(key) }));
    if (fields.length > 0) found.push(fields);
    if (Array.isArray(value)) for (const each of value) visit(each, depth + 1);
    for (const { meaning, value: each } of fields) {
      if (meaning === "changes" && isObject(each)) visit(Object.values(each), depth + 1);
      else if (meaning !== "restated" && meaning !== "variables") visit(each, depth + 1);
    }
  };
  visit(isObject(input) ? input : { input }, 0);
  return found;
}

/** What nobody looks at nobody understands. */
const unseen: Fields = [{ key: "more than is looked at", value: "…", meaning: undefined }];

function meaningOf(key: string): Meaning | undefined {
  const name = key.toLowerCase().replaceAll(/[_-]/g, "");
  return (Object.keys(meanings) as Meaning[]).find((each) => meanings[each][0].test(name)); // its own keys
}

/** The names of the fields that may change what is done, and nobody here can tell how. */
export function unreadIn(objects: readonly Fields[]): string[] {
  const runs = objects.some(isCommand);
  const unread = objects.flatMap((fields) =>
    fields.filter((field) => !isEmpty(field.value) && !isRead(field, fields, runs)),
  );
  return [...new Set(unread.map(({ key }) => key))];
}

export function isCommand(fields: Fields): boolean {
  return fields.some(
    ({ meaning, value }) => (meaning === "command" || meaning === "lines") && !isEmpty(value),
  );
}

function isRead({ meaning, value }: Field, fields: Fields, runs: boolean): boolean {
  // a number or a switch beside a path says which part of the file
  if (meaning === undefined)
    return !runs && listed(value).every((each) => typeof each === "number" || typeof each === "boolean");
  const reader: Reader = meanings[meaning][1];
  return reader(value, { runs, has: (wanted) => fields.some((other) => other.meaning === wanted) });
}

/** A pattern that may reach files outside of where it is applied. */
const leaves = /^[~/\\]|^[a-z]:[\\/]|(?:^|[\\/])\.\.(?:[\\/]|$)/i;

/** The files of a patch in the form that models write: its lines `*** Update File: PATH`. */
export function patchedPaths(text: string): string[] {
  return [...text.matchAll(/^\*{3} (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)].map(([, path = ""]) =>
    path.trim(),
  );
}

export function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}

export function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === "" ||
    (typeof value === "object" && Object.keys(value).length === 0)
  );
}
