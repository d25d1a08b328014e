// Reads the subjects of a tool call from its input and diffs, not from its title.

import type { PermissionRequest } from "@parley/acp";
import { isObject } from "@parley/acp/internal";
import type { ToolCallUpdate } from "@parley/acp/model";
import { canonicalPath } from "./canonical-path.ts";
import { commandSubject } from "./command-subject.ts";
import { isFileOperation, type Subject, type Operation as SubjectOperation } from "./subject.ts";
import { askedCall } from "./tool-calls.ts";

type Input = Readonly<Record<string, unknown>>;

/** A call says that it deletes, which is writing. */
type Operation = SubjectOperation | "delete";

type Call = Partial<Omit<ToolCallUpdate, "toolCallId">>;

const pathKeys =
  /^(?:(?:abs|absolute|file|notebook|old|new|target|source|destination|dest|from|to|dir|directory|folder|relative_workspace)?_?(?:path|file|uri|filename)s?|source|destination|from|to|directory|dir|folder|filename|files?)$/i;
const commandKeys = ["command", "cmd", "argv", "script", "shell_command", "shellCommand"];
const directoryKeys = ["cwd", "workdir", "working_directory", "workingDirectory", "dir_path"];
const addressKeys = /^(?:url|urls|uri|href|address|host|hostname|domain|endpoint)$/i;
/** What only a change needs. */
const contentKeys =
  /^(?:content|contents|new_?(?:string|text|str|source|content)|old_?(?:string|text|str)|edits?|patch|diff|replacement|insert_text|file_text|changes)$/i;

/** `call` is what is known of the tool call beside the question. At least one subject, all of them claims. */
export function claimsOf(ask: PermissionRequest, call: Call | undefined, cwd: string): Subject[] {
  const { subject } = ask;
  if (subject?.type === "command" && "command" in subject && typeof subject.command === "string") {
    const where = canonicalPath(typeof subject["cwd"] === "string" ? subject["cwd"] : cwd, cwd);
    return [commandSubject("claim", subject.command, undefined, where)];
  }
  const merged: Call = { ...call, ...withoutEmpty(askedCall(ask) ?? {}) };
  return claimsOfCall(merged, cwd);
}

function withoutEmpty(call: Call): Call {
  return Object.fromEntries(
    Object.entries(call).filter(([, value]) => value !== undefined && value !== null),
  );
}

/** What a tool call says of itself. */
export function claimsOfCall(call: Call, cwd: string): Subject[] {
  const input = isObject(call.rawInput) ? call.rawInput : {};
  const subjects = [
    ...commands(input, cwd),
    ...tools(call, input),
    ...hosts(input),
    ...paths(call, input, cwd),
    ...modes(call, input),
  ];
  const known = new Set(subjects.map(({ operation }) => operation));
  const labelled = operationsOf(call.kind ?? undefined);
  // what the label says and nothing else does
  for (const operation of labelled) {
    const fact = claimed(operation);
    const isVague = subjects.length > 0 && (operation === "other" || operation === "read");
    if (!known.has(fact.operation) && !isVague) subjects.push({ ...fact, labelOnly: true });
  }
  // what is shown as changed is not only a label
  const isShown = (call.content ?? []).some(({ type }) => type === "diff") && labelled.includes("write");
  const placed = new Set(subjects.flatMap(({ path }) => (path === undefined ? [] : [path])));
  for (const { path } of (call.locations ?? []).slice(0, maxSubjects)) {
    const where = canonicalPath(path, cwd);
    if (placed.has(where) || known.has("exec")) continue;
    subjects.push({
      ...claimed(labelled[0] ?? "other"),
      path: where,
      ...(isShown ? {} : { labelOnly: true }),
    });
  }
  return distinct(within(subjects));
}

/** So many things at once nobody can judge, and each path costs a look at the disk. */
const maxSubjects = 1_000;

function within(subjects: readonly Subject[]): readonly Subject[] {
  if (subjects.length <= maxSubjects) return subjects;
  return [...subjects.slice(0, maxSubjects), { origin: "claim", operation: "other", labelOnly: true }];
}

function commands(input: Input, cwd: string): Subject[] {
  const directory = directoryKeys.map((key) => input[key]).find((value) => typeof value === "string");
  const where = canonicalPath(typeof directory === "string" ? directory : cwd, cwd);
  const env = variablesOf(input);
  const args = input["args"] ?? input["arguments"] ?? undefined;
  return commandKeys.flatMap((key) => {
    const value = input[key];
    const claim = (command: string, words: readonly string[] | undefined): Subject =>
      commandSubject("claim", command, words, where, env);
    if (typeof value === "string" && value !== "") {
      if (args === undefined || (Array.isArray(args) && args.length === 0)) return [claim(value, undefined)];
      if (typeof args === "string") return [claim(`${value} ${args}`, undefined)];
      if (isWords(args)) return [claim(value, args)];
      // further words that nobody can read: whatever they are, no rule allows them
      return [{ ...claim(value, textsIn(args)), labelOnly: true }];
    }
    if (!Array.isArray(value) || value.length === 0) return [];
    const [program = "", ...words] = value.map(String);
    return isWords(value) ? [claim(program, words)] : [{ ...claim(program, words), labelOnly: true }];
  });
}

/** What the agent says that it sets for a command: a record, or a list of names and values. */
function variablesOf(input: Input): Record<string, string> {
  const env = input["env"] ?? input["environment"];
  const pairs = Array.isArray(env)
    ? env.map((each): [unknown, unknown] => (isObject(each) ? [each["name"], each["value"]] : [each, ""]))
    : isObject(env)
      ? Object.entries(env)
      : [];
  return Object.fromEntries(pairs.map(([name, value]) => [String(name), String(value)]));
}

function tools(call: Call, input: Input): Subject[] {
  const meta = call._meta?.["claudeCode"];
  const found = new Map<string, Subject>();
  const add = (name: unknown, more: Pick<Subject, "labelOnly"> = {}): void => {
    const [, server = "", tool = ""] = /^mcp__(.+?)__(\S+)$/.exec(typeof name === "string" ? name : "") ?? [];
    if (server !== "" && !found.has(`${server}/${tool}`))
      found.set(`${server}/${tool}`, {
        origin: "claim",
        operation: "mcp",
        tool: { server, name: tool },
        ...more,
      });
  };
  const server = input["server"] ?? input["server_name"] ?? input["serverName"];
  const tool = input["tool"] ?? input["tool_name"] ?? input["toolName"];
  if (typeof server === "string" && typeof tool === "string") add(`mcp__${server}__${tool}`);
  add(call.name);
  add(isObject(meta) ? meta["toolName"] : undefined);
  // what it is titled is no more than a label
  add(call.title, { labelOnly: true });
  return [...found.values()];
}

function hosts(input: Input): Subject[] {
  return Object.entries(input).flatMap(([key, value]) => {
    if (!addressKeys.test(key)) return [];
    return textsIn(value).flatMap((text): Subject[] => {
      const host = hostOf(text);
      return host === undefined ? [] : [{ origin: "claim", operation: "net", host }];
    });
  });
}

const ports: Readonly<Record<string, string>> = {
  "http:": "80",
  "https:": "443",
  "ws:": "80",
  "wss:": "443",
  "ftp:": "21",
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
  const port = url.port === "" && isWhole ? ports[url.protocol] : url.port;
  return port === undefined || port === "" ? url.hostname : `${url.hostname}:${port}`;
}

function paths(call: Call, input: Input, cwd: string): Subject[] {
  const isChange = Object.keys(input).some((key) => contentKeys.test(key));
  const runs = commandKeys.some((key) => input[key] !== undefined);
  const labelled = operationsOf(call.kind ?? undefined).filter((operation) =>
    isFileOperation(claimed(operation).operation),
  );
  // nothing says how it is meant: whatever is forbidden for it must be
  const unsaid: readonly Operation[] = runs ? [] : ["read", "write"];
  const meant = new Set<Operation>(labelled.length > 0 ? labelled : unsaid);
  if (isChange) meant.add("write");
  const changes: readonly ClaimedChange[] = [
    ...diffChanges(call),
    ...(isObject(input["changes"]) ? Object.keys(input["changes"]).map((path) => ({ path })) : []),
  ];
  const named = Object.entries(input).flatMap(([key, value]) => {
    if (!pathKeys.test(key) || directoryKeys.includes(key)) return [];
    return textsIn(value).filter((text) => !/^(?!file:)[a-z][a-z\d+.-]*:\/\//i.test(text));
  });
  const claim = (operation: Operation, path: string): Subject => ({
    ...claimed(operation),
    path: canonicalPath(placeOf(path), cwd),
  });
  return [
    ...changes
      .slice(0, maxSubjects + 1)
      .map(({ path, operation }) => claim(operation ?? (meant.has("delete") ? "delete" : "write"), path)),
    ...named
      .slice(0, maxSubjects + 1)
      .flatMap((path) => [...meant].map((operation) => claim(operation, path))),
  ];
}

interface ClaimedChange {
  readonly path: string;
  /** Undefined: the kind of the call says it. */
  readonly operation?: "read" | "write" | "delete";
}

/** Version 1 names one file with its texts, version 2 lists what is changed. */
function diffChanges({ content }: Call): ClaimedChange[] {
  return (content ?? []).flatMap((each): ClaimedChange[] => {
    if (each.type !== "diff") return [];
    const { path, changes } = each as { readonly path?: unknown; readonly changes?: unknown }; // each is checked
    const listed = Array.isArray(changes) ? changes.filter(isObject) : [];
    return [
      ...textsIn(path).map((one) => ({ path: one })),
      ...listed.flatMap(({ operation, path: at, oldPath }): ClaimedChange[] => [
        ...changesOf(at, operation === "delete" ? "delete" : "write"),
        // what is moved is gone from where it was; what is copied is read there
        ...changesOf(oldPath, operation === "copy" ? "read" : "delete"),
      ]),
    ];
  });
}

function changesOf(paths: unknown, operation: "read" | "write" | "delete"): ClaimedChange[] {
  return textsIn(paths).map((path) => ({ path, operation }));
}

function placeOf(path: string): string {
  return /^file:\/\//i.test(path) ? decoded(path.slice("file://".length)) : path;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function modes(call: Call, input: Input): Subject[] {
  if (call.kind !== "switch_mode") return [];
  const mode = input["modeId"] ?? input["mode"] ?? input["mode_id"];
  return typeof mode === "string" ? [{ origin: "claim", operation: "mode", mode }] : [];
}

const byKind: Readonly<Record<string, readonly Operation[]>> = {
  read: ["read"],
  search: ["read"],
  edit: ["write"],
  delete: ["delete"],
  move: ["write"],
  execute: ["exec"],
  fetch: ["net"],
  switch_mode: ["mode"],
};

function claimed(operation: Operation): Subject {
  return operation === "delete"
    ? { origin: "claim", operation: "write", deletes: true }
    : { origin: "claim", operation };
}

function operationsOf(kind: string | undefined): readonly Operation[] {
  return (kind === undefined ? undefined : byKind[kind]) ?? ["other"];
}

function distinct(subjects: readonly Subject[]): Subject[] {
  return [...new Map(subjects.map((subject) => [JSON.stringify(subject), subject])).values()];
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return value === "" ? [] : [value];
  return Array.isArray(value)
    ? value.flatMap((each) => (isObject(each) ? textsIn(each["path"]) : textsIn(each)))
    : [];
}
