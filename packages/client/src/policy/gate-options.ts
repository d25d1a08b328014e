// What a gate is made of, what it gives, and what it reports.

import type { ClientDefinition, Update } from "@parley/acp";
import type { AuditLog } from "../audit/audit-log.ts";
import type { GatedFiles } from "../services/gated-files.ts";
import type { GatedTerminals } from "../services/gated-terminals.ts";
import type { ServiceOptions } from "../services/service-options.ts";
import type { Effect, Scope, Subject } from "../subject.ts";
import type { Verdict } from "./decide.ts";
import type { GatedSession } from "./gate-session.ts";
import type { PermissionQuestion, PermissionReply } from "./question.ts";
import type { RememberedRule, RememberedRules } from "./remembered.ts";
import type { Rule } from "./rule.ts";
import type { VetoAnswer } from "./veto.ts";

/** The person who answers, where there is one. */
export interface PermissionAsker {
  permission?(question: PermissionQuestion): Promise<PermissionReply> | PermissionReply;
}

export interface GateOptions extends ServiceOptions {
  /** Of files and flags; those of a workspace come from `workspaceRules`. */
  readonly rules?: readonly Rule[];
  /** What a workspace says: only what forbids or has asked counts. */
  workspaceRules?(root: string): readonly Rule[];
  /** Answers that outlive a session. Without it `workspace` and `always` are not offered. */
  readonly remembered?: RememberedRules;
  readonly audit?: AuditLog;
  /** Without one, everything that would be asked is refused at once. */
  readonly asker?: PermissionAsker;
  /** The agent's name, for the audit log. */
  readonly agent?: string;
  /** Folders that hold rules, keys and logs of Parley: agents never write there. */
  readonly own?: readonly string[];
  /** How long a question may stay open. Default 10 minutes, then nobody has decided. */
  readonly answerMs?: number;
  readonly now?: () => number;
}

/** What was decided about something, and by what. */
export interface Decision {
  readonly sessionId: string;
  /** The session's directory: where a rule that is remembered for this workspace counts. Canonical. */
  readonly workspace: string;
  readonly subjects: readonly Subject[];
  /** One line in our own words. */
  readonly summary: string;
  /** `violation`: an agent says that it has done by itself, without asking, what a rule forbids. */
  readonly effect: Exclude<Effect, "ask"> | "cancelled" | "violation";
  /**
   * `rule`, `default`; `boundary`: it leads outside the session's directories, and no rule is asked; `user`: a person was
   * asked; `nobody`: there was none to ask, or no answer came; `approval`: a person had just allowed the agent exactly this;
   * `agent`: no rule is about it, and the agent does it without asking.
   */
  readonly by: "rule" | "default" | "boundary" | "user" | "nobody" | "approval" | "agent";
  /** Names the rule that fired, where one did. */
  readonly reason: string;
  readonly rule?: Rule;
  /** The rules that would have allowed what nobody was there to allow; absent where no rule can. */
  readonly allowedBy?: readonly string[];
  /** Of a person's answer. */
  readonly scope?: Scope;
  /** What was remembered of it. */
  readonly remembered?: RememberedRule;
}

/** Stands between agents and this machine: every question and every effect goes through it. */
export interface Gate {
  /** For a client's definition: answers `session/request_permission`. */
  readonly permission: NonNullable<ClientDefinition["permission"]>;
  /** For a client's definition. The same for the same session object. */
  readonly files: Extract<NonNullable<ClientDefinition["files"]>, (...args: never[]) => unknown>;
  readonly terminals: Extract<NonNullable<ClientDefinition["terminals"]>, (...args: never[]) => unknown>;
  services(session: GatedSession): { readonly files: GatedFiles; readonly terminals: GatedTerminals };
  /** Answers `_parley.dev/veto` of a session: what an agent would do without asking. Rejects with -32602. */
  veto(session: GatedSession, params: unknown, signal: AbortSignal): Promise<VetoAnswer>;
  /** What the rules say, without asking anybody and without doing anything. */
  check(session: GatedSession, subjects: readonly Subject[]): Verdict;
  /** Tells the gate what a session says: a question may name a tool call by its id alone. */
  observe(session: GatedSession, update: Update): void;
  /**
   * The user cancelled: what was allowed and not yet done is not allowed any more, and nothing but reading is done for the
   * session until it is `prompted` again.
   */
  cancelled(session: GatedSession): void;
  /** The user wants something of it again. */
  prompted(session: GatedSession): void;
  /** What policy refused, or nobody was there to allow; not what a person refused. The first 1,000. */
  readonly refusals: readonly Decision[];
  /** How many there were. */
  readonly refused: number;
  /** What agents say they have done by themselves against a rule. The first 1,000. */
  readonly violations: readonly Decision[];
  onDecision(listener: (decision: Decision) => void): () => void;
}
