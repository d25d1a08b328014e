// Reads what an agent says that it will do: from the input of a tool call, its diffs and, as a label, its title.

import type { PermissionRequest } from "@parley/acp";
import { askedAbout, operationSubject } from "@parley/acp/internal";
import { isObject } from "@parley/acp/jsonrpc";
import type { ToolCallUpdate } from "@parley/acp/model";
import { canonicalPath } from "./canonical-path.ts";
import {
  type Fields,
  fieldsOf,
  isCommand,
  listed,
  type Meaning,
  patchedPaths,
  unreadIn,
} from "./claim-fields.ts";
import { claimedTools } from "./claimed-tools.ts";
import { commandSubject } from "./command-subject.ts";
import { callOfOperation } from "./operation-claims.ts";
import { isFileOperation, type RuleSubject, type SubjectOperation } from "./subject.ts";
import { askedCall } from "./tool-calls.ts";

/** A call says that it deletes, which is writing. */
type Operation = SubjectOperation | "delete";

type Call = Partial<Omit<ToolCallUpdate, "toolCallId">>;

/** `call` is what is known of the tool call beside the question. At least one subject, all of them claims. */
export function claimsOf(ask: PermissionRequest, call: Call | undefined, cwd: string): RuleSubject[] {
  const { subject } = ask;
  if (subject?.type === "command") {
    const { type: _type, toolCallId: _call, terminalId: _terminal, _meta, ...rawInput } = subject;
    return claimsOfCall({ kind: "execute", rawInput }, cwd);
  }
  const operation = operationSubject(subject);
  if (operation !== undefined) {
    const asked = claimsOfCall(callOfOperation(operation), cwd);
    const paths = new Set(asked.map(({ path }) => path));
    // what the call itself says must be allowed too, but for labels, and reading what is asked for anyway
    const said = (call === undefined ? [] : claimsOfCall(call, cwd)).filter(
      ({ labelOnly, operation: what, path }) =>
        !labelOnly && !(what === "read" && path !== undefined && paths.has(path)),
    );
    return distinct([...asked, ...said]);
  }
  return claimsOfCall(askedAbout(call ?? {}, askedCall(ask) ?? {}), cwd);
}

/** What a tool call says of itself. */
export function claimsOfCall(call: Call, cwd: string): RuleSubject[] {
  const objects = fieldsOf(call.rawInput ?? {});
  const labelled = byKind.get(call.kind) ?? "other";
  const tools = claimedTools(call, objects);
  // the fields are those of the tool, and the kind is what the agent makes of it
  const isTool = tools.some(({ labelOnly }) => !labelOnly);
  const unread = isTool ? [] : unreadIn(objects);
  const subjects = [
    ...[
      ...commands(objects, cwd),
      ...hosts(objects),
      ...paths(call, objects, cwd),
      ...modes(call, objects),
    ].map(
      (subject): RuleSubject => (unread.length === 0 ? subject : { ...subject, labelOnly: true, unread }),
    ),
    ...tools,
  ];
  const runs = subjects.some(({ operation }) => operation === "exec");
  // what is shown as changed is not only a label
  const isShown = (call.content ?? []).some(({ type }) => type === "diff") && labelled === "write";
  const placed = new Set(subjects.map(({ path }) => path));
  const { operation, ...place } = claimed(labelled);
  for (const { path } of (call.locations ?? []).slice(0, maxSubjects)) {
    const where = placeOf(path, cwd);
    if (placed.has(where) || runs || !(operation === "other" || isFileOperation(operation))) continue;
    subjects.push({ ...place, operation, path: where, ...(isShown ? {} : { labelOnly: true }) });
  }
  // what the label says and nothing else does
  const isMore =
    labelled !== "other" && labelled !== "read" && subjects.every((each) => each.operation !== operation);
  if (!isTool && (isMore || subjects.length === 0)) subjects.push(...titled(labelled, call.title ?? "", cwd));
  return distinct(within(subjects));
}

/** So many things at once nobody can judge, and each path costs a look at the disk. */
const maxSubjects = 1_000;

function within(subjects: readonly RuleSubject[]): readonly RuleSubject[] {
  if (subjects.length <= maxSubjects) return subjects;
  return [...subjects.slice(0, maxSubjects), { origin: "claim", operation: "other", labelOnly: true }];
}

/** What the kind and the title say. Many agents write the command or the address into the title, and nowhere else. */
function titled(operation: Operation, title: string, cwd: string): RuleSubject[] {
  const label: RuleSubject = { ...claimed(operation), labelOnly: true };
  // `Run x`, `Shell: x`, and x in backquotes
  const line = title.replace(/^(?:Run(?:ning)? |[\w-]+: |\$ )/, "").replace(/^`([^`]+)`$/, "$1");
  if (operation === "exec" && line.trim() !== "")
    return [{ ...commandSubject("claim", line, undefined, canonicalPath(cwd)), labelOnly: true }];
  const addresses = operation === "net" ? (title.match(/\b(?:https?|wss?):\/\/[^\s"'<>]+/gi) ?? []) : [];
  const found = addresses.map((address) => ({ ...label, host: hostOf(address) ?? address }));
  return found.length > 0 ? found : [label];
}

/** The values of all fields with this meaning. */
function valuesIn(objects: readonly Fields[], ...meanings: readonly Meaning[]): unknown[] {
  return objects.flatMap((fields) =>
    fields.flatMap(({ meaning, value }) =>
      meaning !== undefined && meanings.includes(meaning) ? [value] : [],
    ),
  );
}

function commands(objects: readonly Fields[], cwd: string): RuleSubject[] {
  const env = Object.fromEntries(valuesIn(objects, "variables").flatMap(variablesIn));
  const leaves = valuesIn(objects, "outside").some((value) => value !== false);
  const claim = (command: string, words: readonly string[] | undefined, where: string): RuleSubject => ({
    ...commandSubject("claim", command, words, where, env),
    ...(leaves ? { leaves } : {}),
  });
  const directoriesIn = (fields: readonly Fields[]) =>
    [...valuesIn(fields, "directory"), ...valuesIn(fields.filter(isCommand), "place")].flatMap(textsIn);
  return objects.filter(isCommand).flatMap((fields) => {
    const own = directoriesIn([fields]);
    const said = own.length > 0 ? own : directoriesIn(objects);
    const more = valuesIn([fields], "words");
    return (said.length > 0 ? said : [cwd]).flatMap((place) => {
      const where = placeOf(place, cwd);
      const read = (value: unknown, further: readonly unknown[]): RuleSubject[] => {
        if (typeof value === "string" && !further.some(Array.isArray))
          return value === "" ? [] : [claim([value, ...further].join(" "), undefined, where)];
        const [program, ...words] = [value, ...further]
          .flatMap(listed)
          .filter((word) => typeof word === "string");
        return program === undefined ? [] : [claim(program, words, where)];
      };
      return [
        ...valuesIn([fields], "command").flatMap((value) => read(value, more.filter(isWordy))),
        ...valuesIn([fields], "lines").flatMap((value) =>
          listed(value)
            .slice(0, maxSubjects + 1)
            .flatMap((line) => read(line, [])),
        ),
      ];
    });
  });
}

/** Words behind a program: a part of its line, or a list that is not empty. */
function isWordy(words: unknown): boolean {
  return typeof words === "string" || (Array.isArray(words) && words.length > 0);
}

/** What the agent says that it sets for a command: a record, or a list of names and values. */
function variablesIn(env: unknown): [string, string][] {
  const text = (value: unknown) => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  if (isObject(env)) return Object.entries(env).map(([name, value]) => [name, text(value)]);
  return (Array.isArray(env) ? env : []).map((each) => {
    if (isObject(each)) return [text(each["name"]), text(each["value"])];
    const [name = "", ...value] = text(each).split("=");
    return [name, value.join("=")];
  });
}

/** An address of the network, not of a file. */
const remote = /^(?!file:)[a-z][a-z\d+.-]*:\/\//i;

function hosts(objects: readonly Fields[]): RuleSubject[] {
  const addresses = [
    ...valuesIn(objects, "address").flatMap(textsIn),
    ...valuesIn(objects, "path", "place")
      .flatMap(textsIn)
      .filter((text) => remote.test(text)),
  ];
  return addresses.slice(0, maxSubjects + 1).flatMap((text): RuleSubject[] => {
    const host = hostOf(text);
    return host === undefined ? [] : [{ origin: "claim", operation: "net", host }];
  });
}

const ports: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "ws:": 80,
  "wss:": 443,
  "ftp:": 21,
};

/** With the port where the address says it, by number or by scheme. Undefined for a file. */
function hostOf(address: string): string | undefined {
  // as browsers read it: line ends do not count, and slashes may lean or be missing
  const text = address.replaceAll(/[\t\r\n]/g, "").trim();
  if (/^file:/i.test(text)) return undefined;
  const isWhole = /^(?:(?:https?|wss?|ftp):|[a-z][a-z\d+.-]*:\/\/)/i.test(text);
  const url = URL.parse(isWhole ? text : `http://${text}`);
  // user@host:path, as git and scp write it
  if (url === null || url.host === "") return /^(?:[^@/\s]*@)?([\w.-]+)/.exec(text)?.[1]?.toLowerCase();
  const port = url.port || (isWhole ? ports[url.protocol] : undefined);
  return port === undefined ? url.hostname : `${url.hostname}:${port}`;
}

function paths(call: Call, objects: readonly Fields[], cwd: string): RuleSubject[] {
  const runs = objects.some(isCommand);
  const labelled = byKind.get(call.kind) ?? "other";
  // nothing says how it is meant: whatever is forbidden for it must be
  const unsaid: readonly Operation[] = runs ? [] : ["read", "write"];
  const meant = new Set<Operation>(isFileOperation(claimed(labelled).operation) ? [labelled] : unsaid);
  const contents = valuesIn(objects, "content", "changes");
  if (contents.length > 0) meant.add("write");
  const texts = [...contents, ...valuesIn(objects, "wrapper")].filter((value) => typeof value === "string");
  const patched = [
    ...texts.flatMap(patchedPaths),
    ...valuesIn(objects, "changes").filter(isObject).flatMap(Object.keys),
  ];
  const changes = [...diffChanges(call), ...patched.map((path): Change => [path])];
  const named = valuesIn(objects, "path", ...(runs ? [] : (["place"] as const)))
    .flatMap(textsIn)
    .filter((text) => !remote.test(text));
  const claim = (operation: Operation, path: string): RuleSubject => ({
    ...claimed(operation),
    path: placeOf(path, cwd),
  });
  return [
    ...changes
      .slice(0, maxSubjects + 1)
      .map(([path, operation = meant.has("delete") ? "delete" : "write"]) => claim(operation, path)),
    ...named
      .slice(0, maxSubjects + 1)
      .flatMap((path) => [...meant].map((operation) => claim(operation, path))),
  ];
}

/** Without an operation the kind of the call says it. */
type Change = readonly [path: string, operation?: Operation];

/** Version 1 names one file with its texts, version 2 lists what is changed. */
function diffChanges({ content }: Call): Change[] {
  return (content ?? []).flatMap((each): Change[] => {
    if (each.type !== "diff") return [];
    const { path, changes } = each as { readonly path?: unknown; readonly changes?: unknown }; // each is checked
    const moved = listed(changes)
      .filter(isObject)
      .flatMap(({ operation, path: at, oldPath }): Change[] => [
        ...textsIn(at).map((one): Change => [one, operation === "delete" ? "delete" : "write"]),
        // what is moved is gone from where it was; what is copied is read there
        ...textsIn(oldPath).map((one): Change => [one, operation === "copy" ? "read" : "delete"]),
      ]);
    return [...textsIn(path).map((one): Change => [one]), ...moved];
  });
}

function placeOf(path: string, cwd: string): string {
  const plain = /^file:\/\//i.test(path) ? decoded(path.slice("file://".length)) : path;
  return canonicalPath(plain, cwd);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function modes(call: Call, objects: readonly Fields[]): RuleSubject[] {
  if (call.kind !== "switch_mode") return [];
  return valuesIn(objects, "mode")
    .flatMap(textsIn)
    .map((mode) => ({ origin: "claim", operation: "mode", mode }));
}

/** Other kinds say nothing. */
const byKind = new Map<string | null | undefined, Operation>([
  ["read", "read"],
  ["search", "read"],
  ["edit", "write"],
  ["delete", "delete"],
  ["move", "write"],
  ["execute", "exec"],
  ["fetch", "net"],
  ["switch_mode", "mode"],
]);

function claimed(operation: Operation): RuleSubject {
  return operation === "delete"
    ? { origin: "claim", operation: "write", deletes: true }
    : { origin: "claim", operation };
}

function distinct(subjects: readonly RuleSubject[]): RuleSubject[] {
  return [...new Map(subjects.map((subject) => [JSON.stringify(subject), subject])).values()];
}

/** The texts of a value: itself, or those that it lists. */
function textsIn(value: unknown): string[] {
  return listed(value).filter((text): text is string => typeof text === "string" && text !== "");
}
