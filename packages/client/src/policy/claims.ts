// What an agent says it is about to do, read from what it says rather than from what it calls it: its input and its
// diffs count, and its kind only says how a path is meant. What does not fit together counts twice.

import { isAbsolute, resolve } from "node:path";
import type { PermissionAsk, ToolCallUpdate } from "@parley/acp";
import type { Operation, Subject } from "../subject.ts";
import { canonicalPath } from "./canonical-path.ts";
import { commandSubject } from "./command-subject.ts";

type Call = Partial<Omit<ToolCallUpdate, "toolCallId">>;
type Input = Readonly<Record<string, unknown>>;

const pathKeys =
  /^(?:(?:abs|absolute|file|notebook|old|new|target|source|destination|dest|from|to|dir|directory|folder|relative_workspace)?_?(?:path|file|uri|filename)s?|source|destination|from|to|directory|dir|folder|filename|files?)$/i;
const commandKeys = ["command", "cmd", "argv", "script", "shell_command", "shellCommand"];
const directoryKeys = ["cwd", "workdir", "working_directory", "workingDirectory", "dir_path"];
const addressKeys = /^(?:url|urls|uri|href|address|host|hostname|domain|endpoint)$/i;
/** What only a change needs. */
const contentKeys =
  /^(?:content|contents|new_?(?:string|text|str|source|content)|old_?(?:string|text|str)|edits?|patch|diff|replacement|insert_text|file_text|changes)$/i;

/** `call` is what is known of the tool call beside the question. At least one subject, all of them claims. */
export function claimsOf(ask: PermissionAsk, call: Call | undefined, cwd: string): Subject[] {
  const { subject } = ask;
  if (subject?.type === "command" && "command" in subject && typeof subject.command === "string") {
    const where = canonicalPath(typeof subject["cwd"] === "string" ? subject["cwd"] : cwd);
    return [commandSubject("claim", subject.command, undefined, where)];
  }
  const asked = subject?.type === "tool_call" ? (subject.toolCall as Call) : {};
  const merged: Call = { ...call, ...withoutEmpty(asked) };
  return fromCall(merged, cwd);
}

function withoutEmpty(call: Call): Call {
  return Object.fromEntries(
    Object.entries(call).filter(([, value]) => value !== undefined && value !== null),
  );
}

function fromCall(call: Call, cwd: string): Subject[] {
  const input = isRecord(call.rawInput) ? call.rawInput : {};
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
    if (!known.has(operation) && !(subjects.length > 0 && (operation === "other" || operation === "read")))
      subjects.push({ origin: "claim", operation, labelOnly: true });
  }
  const placed = new Set(subjects.flatMap(({ path }) => (path === undefined ? [] : [path])));
  for (const { path } of call.locations ?? []) {
    const where = canonicalPath(resolve(cwd, path));
    if (placed.has(where) || known.has("exec")) continue;
    subjects.push({ origin: "claim", operation: labelled[0] ?? "other", path: where, labelOnly: true });
  }
  return distinct(subjects);
}

function commands(input: Input, cwd: string): Subject[] {
  const directory = directoryKeys.map((key) => input[key]).find((value) => typeof value === "string");
  const where = canonicalPath(typeof directory === "string" ? resolve(cwd, directory) : cwd);
  return commandKeys.flatMap((key) => {
    const value = input[key];
    if (typeof value === "string" && value !== "") {
      const args = input["args"];
      return [commandSubject("claim", value, isWords(args) && args.length > 0 ? args : undefined, where)];
    }
    return isWords(value) && value.length > 0
      ? [commandSubject("claim", value[0] ?? "", value.slice(1), where)]
      : [];
  });
}

function tools(call: Call, input: Input): Subject[] {
  const meta = call._meta?.["claudeCode"];
  const names = [call.name, call.title, isRecord(meta) ? meta["toolName"] : undefined];
  const found: Subject[] = names.flatMap((name): Subject[] => {
    const [, server = "", tool = ""] = /^mcp__(.+?)__(\S+)$/.exec(typeof name === "string" ? name : "") ?? [];
    return server === "" ? [] : [{ origin: "claim", operation: "mcp", tool: { server, name: tool } }];
  });
  const server = input["server"] ?? input["server_name"] ?? input["serverName"];
  const tool = input["tool"] ?? input["tool_name"] ?? input["toolName"];
  if (typeof server === "string" && typeof tool === "string")
    found.push({ origin: "claim", operation: "mcp", tool: { server, name: tool } });
  return found;
}

function hosts(input: Input): Subject[] {
  return Object.entries(input).flatMap(([key, value]) => {
    if (!addressKeys.test(key)) return [];
    return listOf(value).flatMap((text): Subject[] => {
      const host = hostOf(text);
      return host === undefined ? [] : [{ origin: "claim", operation: "network", host }];
    });
  });
}

/** Undefined for a file. */
function hostOf(text: string): string | undefined {
  if (/^file:/i.test(text)) return undefined;
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  return url === null || url.host === "" ? undefined : url.host;
}

function paths(call: Call, input: Input, cwd: string): Subject[] {
  const isChange = Object.keys(input).some((key) => contentKeys.test(key));
  const runs = commandKeys.some((key) => input[key] !== undefined);
  const labelled = operationsOf(call.kind ?? undefined).filter((operation) => isFileOperation(operation));
  // nothing says how it is meant: whatever is forbidden for it must be
  const unsaid: readonly Operation[] = runs ? [] : ["read", "write"];
  const meant = new Set<Operation>(labelled.length > 0 ? labelled : unsaid);
  if (isChange) meant.add("write");
  const changed = [
    ...(call.content ?? []).flatMap((each) =>
      each.type === "diff" && "path" in each ? listOf(each["path"]) : [],
    ),
    ...(isRecord(input["changes"]) ? Object.keys(input["changes"]) : []),
  ];
  const named = Object.entries(input).flatMap(([key, value]) => {
    if (!pathKeys.test(key) || directoryKeys.includes(key)) return [];
    return listOf(value).filter((text) => !/^(?!file:)[a-z][a-z\d+.-]*:\/\//i.test(text));
  });
  const claim = (operation: Operation, path: string): Subject => ({
    origin: "claim",
    operation,
    path: canonicalPath(placeOf(path, cwd)),
  });
  return [
    ...changed.map((path) => claim(meant.has("delete") ? "delete" : "write", path)),
    ...named.flatMap((path) => [...meant].map((operation) => claim(operation, path))),
  ];
}

function placeOf(path: string, cwd: string): string {
  const plain = /^file:\/\//i.test(path) ? decoded(path.slice("file://".length)) : path;
  return isAbsolute(plain) ? plain : resolve(cwd, plain);
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
  move: ["write", "delete"],
  execute: ["exec"],
  fetch: ["network"],
  switch_mode: ["mode"],
};

function operationsOf(kind: string | undefined): readonly Operation[] {
  return (kind === undefined ? undefined : byKind[kind]) ?? ["other"];
}

function isFileOperation(operation: Operation): boolean {
  return operation === "read" || operation === "write" || operation === "delete";
}

function distinct(subjects: readonly Subject[]): Subject[] {
  return [...new Map(subjects.map((subject) => [JSON.stringify(subject), subject])).values()];
}

function isRecord(value: unknown): value is Input {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}

function listOf(value: unknown): string[] {
  if (typeof value === "string") return value === "" ? [] : [value];
  return Array.isArray(value)
    ? value.flatMap((each) => (isRecord(each) ? listOf(each["path"]) : listOf(each)))
    : [];
}
