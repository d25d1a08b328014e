// The state that a gate keeps per session: directories, answers, approvals and known tool calls.

import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { parse } from "node:path";
import { type ClientSession, type PolicyContext, RequestError, type SessionUpdate } from "@parley/acp";
import { OpenQuestions } from "@parley/acp/jsonrpc";
import type { ToolCallUpdate } from "@parley/acp/model";
import { isExactly, type MatchContext } from "../rules/match.ts";
import type { ExactTarget, Rule } from "../rules/rule.ts";
import { targetOf } from "../rules/scopes.ts";
import { canonicalPath } from "../subjects/canonical-path.ts";
import { isFileOperation, type RuleSubject } from "../subjects/subject.ts";
import { summaryOfAll } from "../subjects/summary.ts";
import { isToolCallUpdate } from "../subjects/tool-calls.ts";
import type { Decision } from "./decision.ts";

/** What a gate needs of a session: its id, its directory, and all directories that it may use. */
export type GatedSession = Pick<ClientSession, "sessionId" | "cwd" | "roots">;

/** Who asks, and who may be asked, in a session. */
export interface GateAsking extends Pick<PolicyContext, "ask"> {
  /** The agent's name, for the audit log. */
  readonly agent?: string | undefined;
  /** Whether the titles of the agent are its own and name a command or a tool exactly. Default: they are labels. */
  readonly exactTitles?: boolean | undefined;
}

const maxCalls = 256;
const maxJudged = 10_000;
/** What is shown of a call beyond that is not looked at. */
const maxContents = 256;
/** A person said yes to exactly this; it is done soon, or it was something else. */
const approvalMs = 10 * 60_000;
const maxApprovals = 64;

interface Approval {
  readonly exact: ExactTarget;
  readonly content: string | undefined;
  readonly expires: number;
}

export class GateState {
  readonly session: GatedSession;
  /** As they are called. */
  readonly folders: readonly string[];
  /** Canonical. */
  readonly roots: readonly string[];
  /** Answers for this session. */
  readonly answers: Rule[] = [];
  /** Of the roots, those that hold everything. */
  readonly wide: readonly string[];
  readonly #identity: string;
  readonly #calls = new Map<string, Partial<ToolCallUpdate>>();
  /** Calls that were asked about, or have been looked at when they were done. */
  readonly #judged = new Set<string>();
  readonly #refused = new Set<string>();
  /** What was decided on in this turn: by the rules, or by somebody who was asked. */
  readonly #decided = new Set<string>();
  #approvals: Approval[] = [];
  /** The user has cancelled, and has asked for nothing since. */
  isStopped = false;
  readonly questions = new OpenQuestions<undefined>();
  asking: GateAsking = {};

  constructor(session: GatedSession, extraRoots: readonly string[]) {
    this.session = session;
    this.folders = [session.cwd, ...session.roots, ...extraRoots];
    this.roots = [...new Set(this.folders.map((path) => canonicalPath(path)))];
    this.#identity = directoryIdentity(session.cwd);
    this.wide = this.roots.filter(isWide);
  }

  context(now: number): MatchContext {
    return { roots: this.roots, identity: this.#identity, now };
  }

  /** A decision about something in this session. */
  decision(
    subjects: readonly RuleSubject[],
    facts: Pick<Decision, "effect" | "by" | "reason"> & Partial<Decision>,
  ): Decision {
    const { sessionId } = this.session;
    if (facts.effect !== "violation") for (const subject of subjects) this.#noteDecided(subject);
    return { sessionId, workspace: this.workspace.path, subjects, summary: summaryOfAll(subjects), ...facts };
  }

  get workspace(): { readonly path: string; readonly identity: string } {
    return { path: this.roots[0] ?? this.session.cwd, identity: this.#identity };
  }

  /** Keeps what is said of tool calls: a question may name one by its id alone. */
  observe(update: SessionUpdate): void {
    if (update.sessionUpdate === "state_update" && "state" in update && update["state"] === "idle") {
      // what was allowed in a turn is not for the next one
      this.#approvals = [];
      this.#calls.clear();
      this.#judged.clear();
      this.#refused.clear();
      this.#decided.clear();
    } else if (isToolCallUpdate(update)) this.noteCall(update);
    else if (update.sessionUpdate === "tool_call_content_chunk" && !("unknown" in update)) {
      const { toolCallId, content } = update;
      const known = this.#calls.get(toolCallId)?.content ?? [];
      if (known.length < maxContents) this.noteCall({ toolCallId, content: [...known, content] });
    }
  }

  noteCall(call: Partial<ToolCallUpdate> & Pick<ToolCallUpdate, "toolCallId">): void {
    const { toolCallId } = call;
    const said = Object.entries(call).filter(([, value]) => value !== undefined && value !== null);
    this.#calls.set(toolCallId, { ...this.#calls.get(toolCallId), ...Object.fromEntries(said) });
    if (this.#calls.size <= maxCalls) return;
    const [oldest] = this.#calls.keys();
    if (oldest !== undefined) this.#calls.delete(oldest);
  }

  call(toolCallId: string): Partial<ToolCallUpdate> | undefined {
    return this.#calls.get(toolCallId);
  }

  /** Of the calls that nobody was asked about, those; each is given once. */
  takeCalls(
    isWanted: (call: Partial<ToolCallUpdate>, toolCallId: string) => boolean,
  ): Partial<ToolCallUpdate>[] {
    const found = [...this.#calls].filter(([id, call]) => !this.#judged.has(id) && isWanted(call, id));
    for (const [id] of found) this.judged(id);
    return found.map(([, call]) => call);
  }

  /** It was asked about. */
  judged(toolCallId: string): void {
    if (this.#judged.size < maxJudged) this.#judged.add(toolCallId);
  }

  refused(subjects: readonly RuleSubject[]): void {
    for (const subject of subjects)
      if (this.#refused.size < maxJudged) this.#refused.add(refusalKey(subject));
  }

  /** In this turn. */
  wasRefused(subject: RuleSubject): boolean {
    return this.#refused.has(refusalKey(subject));
  }

  #noteDecided(subject: RuleSubject): void {
    if (this.#decided.size >= maxJudged) return;
    this.#decided.add(subject.operation);
    for (const key of decidedKeys(subject)) this.#decided.add(key);
  }

  /** In this turn. What says nothing of itself but its kind is covered by any decision on that kind. */
  wasDecided(subject: RuleSubject): boolean {
    const [key = subject.operation] = decidedKeys(subject);
    return this.#decided.has(key);
  }

  /** A person allowed an agent to do this. If it then asks us to, nobody is asked a second time: once, and soon. */
  approve(subject: RuleSubject, content: string | undefined, now: number): void {
    const exact = targetOf(subject)?.exact;
    // a write whose text nobody saw was not seen
    if (exact === undefined || (subject.operation === "write" && content === undefined)) return;
    this.#approvals.push({ exact, content: textOf(subject, content), expires: now + approvalMs });
    this.#approvals.splice(0, this.#approvals.length - maxApprovals);
  }

  /** Uses an approval up. */
  takeApproval(subject: RuleSubject, content: string | undefined, now: number): boolean {
    // nobody who was asked about the command was told that it would leave the sandbox
    if (subject.leaves) return false;
    const text = textOf(subject, content);
    const at = this.#approvals.findIndex(
      (each) => each.content === text && each.expires > now && isExactly(each.exact, subject),
    );
    return at >= 0 && this.#approvals.splice(at, 1).length > 0;
  }

  /** The user has cancelled: nothing that was allowed and is not done yet may be done, and no answer allows any more. */
  stop(): void {
    this.isStopped = true;
    this.#approvals = [];
    this.questions.abort();
  }

  /** How often the user has cancelled. */
  get stops(): number {
    return this.questions.cancels;
  }
}

function textOf({ operation }: RuleSubject, content: string | undefined): string | undefined {
  return operation === "write" && content !== undefined ? contentHash(content) : undefined;
}

/** What it was about, whoever would have done it. */
function refusalKey({ operation, path, deletes, argv, shellLine, host, tool }: RuleSubject): string {
  return JSON.stringify([operation, path, deletes, shellLine ?? argv, host, tool]);
}

/**
 * What was decided on, however it is written; first the whole, then the commands of a line one by one. Empty where the
 * subject does not say.
 */
function decidedKeys(subject: RuleSubject): readonly string[] {
  const { operation, argv, shellLine, host, tool } = subject;
  if (isFileOperation(operation)) return [refusalKey(subject)];
  if (operation === "exec") {
    const line = shellLine ?? argv?.join(" ");
    if (line === undefined) return [];
    const parts = shellLine === undefined ? [] : shellLine.split(/&&|\|\||[;|&\n]/);
    return [line, ...parts].map((text) => JSON.stringify([operation, wordsOf(text)]));
  }
  if (operation === "net" && host !== undefined)
    return [JSON.stringify([operation, host.replace(/:\d+$/, "").toLowerCase()])];
  return tool === undefined ? [] : [JSON.stringify([operation, tool.server, tool.name])];
}

/** A command has many spellings: blanks and quotes do not count. */
function wordsOf(line: string): readonly string[] {
  return line.split(/[\s'"\\]+/).filter((word) => word !== "");
}

export function sessionEnded(): RequestError {
  return new RequestError("unavailable", "the session has ended", { data: { reason: "unavailable" } });
}

export function contentHash(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/**
 * Which directory it is, whatever stands at its name later. Two paths with the same result are the same directory.
 *
 * @example
 * import { directoryIdentity } from "@parley/client/policy";
 *
 * console.log(directoryIdentity("/project") === directoryIdentity("/project/."));
 */
export function directoryIdentity(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  const which = stat === undefined ? "missing" : `${stat.dev}:${stat.ino}`;
  return `${canonicalPath(path)}#${which}`;
}

/** Directories that hold everything: being below one says nothing. */
function isWide(root: string): boolean {
  return [parse(root).root, homedir(), tmpdir(), "/tmp", "/home", "/Users", "/root", "/etc", "/usr", "/var"]
    .map((path) => canonicalPath(path))
    .includes(root);
}
