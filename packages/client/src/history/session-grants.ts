// What the user has answered for a session, as entries of its log: it still holds when the session is continued.

import { grantEntry } from "@parley/acp/extensions";
import { isObject } from "@parley/acp/jsonrpc";
import type { JsonValue } from "@parley/acp/model";
import { type EntryBody, parseEntry, type StoredEntry } from "@parley/acp/store";
import { type StoredTarget, storedTarget, targetFrom } from "../rules/remembered.ts";
import type { Rule } from "../rules/rule.ts";

/** As long as an answer for a folder. */
const lastsMs = 30 * 24 * 60 * 60 * 1000;

/** An answer of scope `session`. */
export interface SessionGrant extends Rule {
  /** Revokes it. */
  readonly id: string;
  readonly workspace: NonNullable<Rule["workspace"]>;
  readonly expires: number;
}

/** As it is stored. A fork has the entries of its source, but not its grants: they name the session that they are for. */
interface StoredGrant extends StoredTarget {
  readonly session: string;
  readonly id: string;
  readonly effect: "allow" | "deny";
  readonly workspace: SessionGrant["workspace"];
  readonly expires: number;
}

export function grantBody(rule: Rule, session: string, workspace: SessionGrant["workspace"]): EntryBody {
  const id = crypto.randomUUID().slice(0, 8);
  const { effect } = rule;
  const value = { session, id, effect, ...storedTarget(rule), workspace, expires: Date.now() + lastsMs };
  return { kind: "extension", name: grantEntry, value: value as JsonValue }; // as: plain data, without undefined
}

export function revokedBody(id: string): EntryBody {
  return { kind: "extension", name: grantEntry, value: { revoke: id } };
}

/** Those that are in force. What cannot be understood allows nothing. */
export async function grantsIn(
  pages: AsyncIterable<readonly StoredEntry[]>,
  session: string,
): Promise<readonly SessionGrant[]> {
  const grants = new Map<string, SessionGrant>();
  for await (const page of pages)
    for (const stored of page) {
      // nothing else is parsed: a long session has few grants
      if (stored.kind !== "extension") continue;
      const entry = parseEntry(stored);
      if (entry.kind !== "extension" || entry.name !== grantEntry || !isObject(entry.value)) continue;
      const value = entry.value as Partial<StoredGrant> & { readonly revoke?: unknown }; // as: written above, and checked
      if (typeof value.revoke === "string") grants.delete(value.revoke);
      const grant = value.session === session ? grantFrom(value) : undefined;
      if (grant !== undefined) grants.set(grant.id, grant);
    }
  return [...grants.values()].filter(({ expires }) => expires > Date.now());
}

function grantFrom({
  id,
  effect,
  workspace,
  expires,
  rule,
  exact,
}: Partial<StoredGrant>): SessionGrant | undefined {
  const isWhole =
    typeof id === "string" &&
    (effect === "allow" || effect === "deny") &&
    typeof workspace?.identity === "string" &&
    typeof expires === "number" &&
    (typeof rule === "string" || isObject(exact));
  if (!isWhole) return undefined;
  try {
    const target = targetFrom({ rule, exact }, effect);
    return { ...target, effect, origin: "remembered", scope: "session", id, workspace, expires };
  } catch {
    return undefined;
  }
}
