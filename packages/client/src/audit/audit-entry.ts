// The lines of an audit log.

import { crc32 } from "node:zlib";
import type { Redactor } from "@parley/acp/redact";
import type { RuleSubject } from "../subjects/subject.ts";
import { targetText } from "../subjects/summary.ts";

/**
 * `intent`: something is about to be done, and was allowed. `outcome`: what came of it; a command has a second one when it
 * has ended. `refused`: it was not done.
 * `decision`: an agent was answered that runs its own tools. `end`: the log was closed.
 */
export type AuditKind = "intent" | "outcome" | "refused" | "decision" | "end";

/** The facts of a line. */
export interface AuditFacts {
  /** The kind of the line. */
  readonly kind: AuditKind;
  /** The session that it belongs to. */
  readonly sessionId?: string;
  /** The name of the agent. */
  readonly agent?: string;
  /** `op` or `claim`, as in a Subject. */
  readonly origin?: string;
  /** The operation of a Subject, such as "read". */
  readonly operation?: string;
  /** An absolute path, a command, a host or a tool; never content. */
  readonly target?: string;
  /** The working directory of a command. */
  readonly cwd?: string;
  /** The profile of the sandbox of a command, or "left" if it runs outside of it. Absent where there is none. */
  readonly sandbox?: string;
  /** The size of what is read or written. */
  readonly bytes?: number;
  /** The SHA-256 hash of what is written. */
  readonly content?: string;
  /** The `effect` of a Decision. */
  readonly effect?: string;
  /** The rule that decided, or another reason. */
  readonly reason?: string;
  /** The id of a remembered rule, or the text of another one. */
  readonly rule?: string;
  /** How far the user's answer reaches. */
  readonly scope?: string;
  /** When the rule ends, in RFC 3339 form. */
  readonly expires?: string;
  /** The `by` of a Decision. */
  readonly by?: string;
  /** The `seq` of the intent; for an outcome only. */
  readonly of?: number;
  /** "done", why it failed, or how a command ended; for an outcome only. */
  readonly result?: string;
}

/** A line of an audit log. */
export interface AuditEntry extends AuditFacts {
  /** The number of the line, from 0. */
  readonly seq: number;
  /** When it was written, in RFC 3339 form. */
  readonly time: string;
  /** Milliseconds since the log was opened, by a monotonic clock. */
  readonly after: number;
}

export const auditHeader = { parley: "audit", version: 3 };

/** The logs of version 2 have a signature in each line. It is not verified: its key was in the same folder. */
export const signedVersion = 2;

/** Adds the checksum of a body as its last member. */
export function checkedLine(body: string): string {
  return `${body.slice(0, -1)},"sum":"${checksum(body)}"}\n`;
}

/** Reads a line. Undefined for a text that is not a line of a log, or whose checksum is wrong. */
export function readLine(line: string): { readonly body: string; readonly isSigned: boolean } | undefined {
  const [, start, kind, sum] = /^(\{.*),"(sum|mac)":"([\da-f]+)"\}$/.exec(line) ?? [];
  if (start === undefined) return undefined;
  const [body, isSigned] = [`${start}}`, kind === "mac"];
  return isSigned || sum === checksum(body) ? { body, isSigned } : undefined;
}

function checksum(body: string): string {
  return crc32(body).toString(16).padStart(8, "0");
}

/** The target of a subject, with secrets in commands redacted. */
export function auditTarget(subject: RuleSubject, redactor: Redactor): string {
  if (subject.path !== undefined) return subject.path;
  const { argv } = subject;
  const hidden = argv === undefined ? subject : { ...subject, argv: redactor.command(argv) };
  return redactor.text(targetText(hidden)).slice(0, maxTarget);
}

const maxTarget = 4_000;
