// Performs one effect: decides, writes to the audit log, runs it, and logs the outcome.

import { ConnectionError, RequestError } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import { redactor } from "@parley/acp/redact";
import { type AuditFacts, auditTarget } from "../audit/audit-entry.ts";
import { ruleText } from "../rules/rule-text.ts";
import type { RuleSubject } from "../subjects/subject.ts";
import { type Asking, type Authority, isTooLate, type Shown, tooLateReason } from "./authorize.ts";
import type { Decision } from "./decision.ts";
import type { DecisionReports } from "./decision-reports.ts";
import type { GateOptions } from "./gate-options.ts";
import { contentHash, type GateState } from "./gate-state.ts";

/** What a person is shown, and what must still be so when the answer has come: the version of a file, say. */
export interface Look {
  readonly stamp?: string | undefined;
  readonly shown: Shown;
}

/** Something that is about to be done, as it is now. */
export interface Prepared<Result> {
  readonly subject: RuleSubject;
  /** Why it is wanted, for the question. */
  readonly why?: string;
  /** Only where somebody is asked. */
  look?(): Promise<Look> | Look;
  /** What a write would write: bytes where it is no text. */
  readonly content?: string | Uint8Array;
  /** `stamp` is that of the look that a person was given. */
  run(stamp: string | undefined): Promise<Result>;
  /** Resolves later, with how what was started has ended. */
  ended?(): Promise<string | undefined>;
}

const maxRounds = 3;

interface AskingHere extends Pick<Asking, "ask"> {
  readonly signal?: AbortSignal | undefined;
}

interface Approved<Result> {
  readonly decision: Decision;
  readonly prepared: Prepared<Result>;
  /** That of the look that a person was given. */
  readonly stamp: string | undefined;
}

export class Effects {
  readonly authority: Authority;
  readonly #options: Pick<GateOptions, "audit" | "isOwn">;
  readonly #reports: DecisionReports;

  constructor(authority: Authority, options: GateOptions, reports: DecisionReports) {
    this.authority = authority;
    this.#options = options;
    this.#reports = reports;
  }

  /** Whether the agent's own words are the reason of a question. */
  get trustsWords(): boolean {
    return this.#options.isOwn === true;
  }

  async perform<Result>(
    state: GateState,
    /** What the agent asks for, in its own words: for the log, where that leads outside. */
    wanted: RuleSubject,
    prepare: () => Promise<Prepared<Result>>,
    asking: AskingHere = {},
  ): Promise<Result> {
    const { decision, prepared, stamp } = await this.#approved(state, wanted, prepare, asking);
    const seq = this.#write(state, decision, prepared, "intent");
    const ended = (result: string | undefined): void => {
      if (seq !== undefined && result !== undefined)
        this.#options.audit?.write({ kind: "outcome", of: seq, result });
    };
    try {
      const result = await prepared.run(stamp);
      ended("done");
      // the log may be closed by then
      prepared
        .ended?.()
        .then(ended)
        .catch(() => undefined);
      return result;
    } catch (error) {
      ended(outcomeOf(error));
      throw error;
    }
  }

  /** Decides about an effect that somebody else performs. Rejects as `perform` does. */
  async decide(
    state: GateState,
    wanted: RuleSubject,
    prepare: () => Promise<Prepared<unknown>>,
    asking: AskingHere,
  ): Promise<void> {
    const { decision, prepared } = await this.#approved(state, wanted, prepare, asking);
    this.#write(state, decision, prepared, "decision");
  }

  async #approved<Result>(
    state: GateState,
    wanted: RuleSubject,
    prepare: () => Promise<Prepared<Result>>,
    { signal = new AbortController().signal, ask }: AskingHere,
  ): Promise<Approved<Result>> {
    const prepareInside = () => prepare().catch((error: unknown) => this.#impossible(state, wanted, error));
    const { stops } = state;
    let prepared = await prepareInside();
    for (let round = 0; round < maxRounds; round++) {
      const { subject, content, why } = prepared;
      let look: Look | undefined;
      const show = async (): Promise<Shown> => {
        look = await prepared.look?.();
        return look?.shown ?? {};
      };
      const isSame = async (): Promise<boolean> => {
        prepared = await prepareInside();
        const isSubject = JSON.stringify(prepared.subject) === JSON.stringify(subject);
        return isSubject && (await prepared.look?.())?.stamp === look?.stamp;
      };
      // nobody can have approved bytes by their text
      const text = typeof content === "string" ? content : undefined;
      const asking = { show, signal, ask, content: text, isSame, why };
      const { decision, isChanged } = await this.authority.decide(state, [subject], asking);
      if (isChanged) continue;
      // a cancel while it was prepared counts, too
      const isLate = decision.effect === "allow" && isTooLate(state, [subject], stops);
      const last = isLate
        ? state.decision([subject], { effect: "cancelled", by: "user", reason: tooLateReason })
        : decision;
      this.#reports.report(last);
      if (last.effect !== "allow") {
        state.refused([subject]);
        throw this.#refused(state, last, signal);
      }
      return { decision, prepared, stamp: look?.stamp };
    }
    const data = { reason: "conflict" };
    throw new RequestError("conflict", "it changed each time that it was asked about; try again", { data });
  }

  /** Of an agent that runs its own tools: there is nothing to announce, only an answer. */
  settle(state: GateState, decision: Decision): void {
    // what an agent has done is told, even if it cannot be written down
    if (decision.effect === "violation") this.#reports.report(decision);
    for (const subject of decision.subjects) this.#write(state, decision, { subject }, "decision");
    if (decision.effect !== "violation") this.#reports.report(decision);
  }

  /** No rule is asked about what lies outside; that it was tried is worth knowing. */
  #impossible(state: GateState, subject: RuleSubject, error: unknown): never {
    if (error instanceof RequestError && error.kind === "outside_workspace") {
      const reason = "it leads outside the workspace";
      const decision = state.decision([subject], { effect: "deny", by: "boundary", reason });
      this.#reports.report(decision);
      this.#write(state, decision, { subject }, "refused");
    }
    throw error;
  }

  #write(
    state: GateState,
    decision: Decision,
    { subject, content }: Pick<Prepared<unknown>, "subject" | "content">,
    kind: AuditFacts["kind"],
  ): number | undefined {
    const { audit } = this.#options;
    const { agent } = state.asking;
    if (audit === undefined) return undefined;
    const { sessionId, effect, by, reason } = decision;
    const hidden = redactor({ names: false });
    try {
      return audit.write({
        kind,
        sessionId,
        ...optional({ agent }),
        origin: subject.origin,
        operation: subject.operation,
        target: auditTarget(subject, hidden),
        ...optional({ cwd: subject.cwd, sandbox: subject.leaves === true ? "left" : subject.sandbox }),
        ...sizeOf(content),
        effect,
        by,
        reason: hidden.text(reason),
        ...ruleFacts(decision, hidden),
      });
    } catch (error) {
      // what cannot be written down is not done
      const message = `the audit log cannot be written, so nothing was done: ${error instanceof Error ? error.message : ""}`;
      throw new RequestError("unavailable", message, { data: { reason: "unavailable" } });
    }
  }

  #refused(state: GateState, decision: Decision, signal: AbortSignal): Error {
    for (const subject of decision.subjects) this.#write(state, decision, { subject }, "refused");
    if (decision.effect === "cancelled" && signal.aborted) {
      return new ConnectionError("aborted", `${decision.summary}: aborted before it was decided`);
    }
    const { said } = decision;
    const why = said === undefined ? decision.reason : `the ${decision.by} said: ${said}`;
    return RequestError.permissionDenied(`${decision.summary} was not permitted: ${why}`);
  }
}

function sizeOf(content: string | Uint8Array | undefined): Partial<AuditFacts> {
  return content === undefined ? {} : { bytes: Buffer.byteLength(content), content: contentHash(content) };
}

function outcomeOf(error: unknown): string {
  if (error instanceof RequestError) return `failed ${error.code}`;
  return error instanceof ConnectionError ? error.kind : "failed";
}

/** Which rule it was or became, how far it reaches, and until when. */
function ruleFacts(
  { rule, remembered = [], scope = rule?.scope }: Decision,
  hidden: ReturnType<typeof redactor>,
): Partial<AuditFacts> {
  const fired = remembered[0] ?? rule;
  return {
    ...(fired === undefined ? {} : { rule: fired.id ?? hidden.text(ruleText(fired)) }),
    ...optional({ scope }),
    ...(fired?.expires === undefined ? {} : { expires: new Date(fired.expires).toISOString() }),
  };
}
