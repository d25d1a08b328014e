// Stores remembered answers in an append-only file that several processes share.

import { appendFileSync, readFileSync, statSync } from "node:fs";
import { isObject, optional } from "@parley/acp/jsonrpc";
import { replaceFileSync } from "@parley/acp/node";
import type { RuleEffect } from "../subjects/subject.ts";
import { type ExactTarget, type Rule, RuleError, type RuleTarget } from "./rule.ts";
import { parseRule, ruleText } from "./rule-text.ts";

/** A remembered answer. */
export interface RememberedRule extends Rule {
  /** Revokes it. */
  readonly id: string;
  /** Where it holds. */
  readonly scope: "workspace" | "always";
  /** When it ends, in milliseconds since 1970. */
  readonly expires: number;
  /** When it was given, in milliseconds since 1970. */
  readonly since: number;
}

/** The remembered answers in a file. */
export interface RememberedRules {
  /** The path of the file. */
  readonly path: string;
  /** Returns the answers that are in force now, the oldest first. Throws a RuleError if the file cannot be understood. */
  list(): readonly RememberedRule[];
  /** Adds an answer. */
  add(rule: NewRememberedRule): RememberedRule;
  /** Revokes an answer. False if there is none with that id. */
  revoke(id: string): boolean;
}

/** An answer to remember. */
export interface NewRememberedRule extends RuleTarget, Pick<Rule, "workspace"> {
  /** The answer. */
  readonly effect: RuleEffect;
  /** Where it holds. */
  readonly scope: "workspace" | "always";
  /** When it ends, in milliseconds since 1970. Default: after 30 days in a workspace, else after 90. */
  readonly expires?: number;
}

const day = 24 * 60 * 60 * 1000;
const lasts = { workspace: 30 * day, always: 90 * day };
const header = { parley: "permissions", version: 2 };

/**
 * Opens a file of remembered answers, which several processes may share. It is created with the first answer.
 *
 * @example
 * import { rememberedRules } from "@parley/client/policy";
 *
 * const answers = rememberedRules("/home/me/.local/share/my-app/permissions.ndjson");
 * for (const { id } of answers.list()) answers.revoke(id);
 */
export function rememberedRules(path: string, clock: () => number = Date.now): RememberedRules {
  let read = { stamp: "", rules: [] as readonly RememberedRule[] };
  const current = (): readonly RememberedRule[] => {
    const stamp = stampOf(path);
    if (stamp !== read.stamp) read = { stamp, rules: stamp === "" ? [] : parseFile(path) };
    return read.rules;
  };
  const append = (record: object): void => {
    // what another version wrote must not get lines of this one
    current();
    try {
      replaceFileSync(path, `${JSON.stringify(header)}\n`, { onlyNew: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    // a line end in front: what a process that was killed left of its line must not swallow this one
    appendFileSync(path, `\n${JSON.stringify(record)}\n`, { mode: 0o600 });
  };
  return {
    path,
    list: () => current().filter(({ expires }) => expires > clock()),
    add(given) {
      const now = clock();
      const rule: RememberedRule = {
        ...given,
        origin: "remembered",
        id: crypto.randomUUID().slice(0, 8),
        expires: given.expires ?? now + lasts[given.scope],
        since: now,
      };
      const { id, effect, scope, expires, since, workspace } = rule;
      append({ add: { id, effect, ...storedTarget(rule), scope, expires, since, workspace } });
      return rule;
    },
    revoke(id) {
      if (!current().some((rule) => rule.id === id)) return false;
      append({ revoke: id, time: clock() });
      return true;
    },
  };
}

/** Empty: there is no file. */
function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? "" : `${stat.ino}/${stat.size}/${stat.mtimeNs}`;
}

function parseFile(path: string): RememberedRule[] {
  const rules = new Map<string, RememberedRule>();
  const [first, ...lines] = readFileSync(path, "utf8").split("\n");
  const version = (parseLine(first ?? "") as { version?: unknown } | undefined)?.version;
  if (version !== header.version) {
    const got = `expected version ${header.version}, got ${JSON.stringify(version)}`;
    throw new RuleError(`${path} cannot be read: ${got}; update Parley, or move the file away`);
  }
  for (const line of lines) {
    // half a line is of a process that was killed before anybody was told
    const record = parseLine(line) as { add?: StoredRule; revoke?: string } | undefined;
    if (record?.add !== undefined) {
      const rule = decodeRule(record.add);
      if (rule !== undefined) rules.set(rule.id, rule);
    } else if (typeof record?.revoke === "string") rules.delete(record.revoke);
  }
  return [...rules.values()];
}

type StoredRule = RememberedRule & StoredTarget;

function parseLine(line: string): unknown {
  if (line.trim() === "") return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function decodeRule(stored: StoredRule): RememberedRule | undefined {
  const { id, effect, scope, expires, since, workspace, rule, exact } = stored;
  const isWhole =
    typeof id === "string" &&
    ["allow", "ask", "deny"].includes(effect) &&
    (scope === "always" || (scope === "workspace" && typeof workspace?.identity === "string")) &&
    typeof expires === "number" &&
    (typeof rule === "string" || (isObject(exact) && typeof exact["operation"] === "string"));
  if (!isWhole) return undefined;
  const kept = {
    effect,
    origin: "remembered",
    id,
    scope,
    expires,
    since,
    ...optional({ workspace }),
  } as const;
  return { ...targetFrom({ rule, exact }, effect), ...kept };
}

/** What a rule is about, as JSON. Throws a RuleError for what could not be read again. */
export function storedTarget(rule: Pick<Rule, "effect"> & RuleTarget): StoredTarget {
  const { exact, effect } = rule;
  if (exact === undefined) parseRule(ruleText(rule), { effect, origin: "remembered" });
  return exact === undefined ? { rule: ruleText(rule) } : { exact };
}

/** A rule as it was typed, or exactly what an answer was about. */
export interface StoredTarget {
  readonly rule?: string | undefined;
  readonly exact?: ExactTarget | undefined;
}

/** Throws a RuleError if it cannot be understood. */
export function targetFrom({ rule = "", exact }: StoredTarget, effect: RuleEffect): RuleTarget {
  if (exact !== undefined) return { operation: exact.operation, exact };
  const { operation, pattern } = parseRule(rule, { effect, origin: "remembered" });
  return { operation, ...optional({ pattern }) };
}
