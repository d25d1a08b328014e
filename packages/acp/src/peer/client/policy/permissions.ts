// Answers permission requests and permits effects, by the policy and the permission handler of a client.

import { isObject, optional } from "../../../base/objects.ts";
import { askedBy, type OpenQuestions } from "../../../base/open-questions.ts";
import { bothMeta, metaOf } from "../../../edition/wire-fields.ts";
import { reportRejection } from "../../../jsonrpc/callbacks.ts";
import type { Log } from "../../../jsonrpc/connection-options.ts";
import { argumentText, RequestError } from "../../../jsonrpc/errors.ts";
import type { IncomingRequest } from "../../../jsonrpc/incoming-request.ts";
import type { PermissionOutcome, PermissionRequest, PermissionSubject } from "../../../model/ask.ts";
import type { PermissionOption } from "../../../model/content.ts";
import type { SessionUpdate, ToolCallUpdate } from "../../../model/update.ts";
import { newId } from "../../base/new-id.ts";
import type { AskRecords } from "../session/ask-records.ts";
import type { ClientSession, RequestContext } from "../session/client-session.ts";
import type {
  ClientPolicy,
  EffectRequest,
  PolicyContext,
  PolicyRequest,
  PolicyServices,
} from "./client-policy.ts";

/** The part of a client's definition that decides. */
export interface PermissionHandlers {
  readonly requestPermission?:
    | ((request: PermissionRequest, context: RequestContext) => PermissionAnswer | Promise<PermissionAnswer>)
    | undefined;
  readonly policy?: ClientPolicy | undefined;
}

/** A session that an agent asks about. */
export interface AskedSession extends ClientSession {
  readonly questions: OpenQuestions<undefined>;
  readonly toolCalls: { detailsOf(toolCallId: string, said?: ToolCallUpdate): ToolCallUpdate | undefined };
  readonly asks: Pick<AskRecords, "asked" | "answered">;
}

type Asking = Pick<IncomingRequest, "id" | "signal" | "afterReply">;
type Ask = NonNullable<PolicyContext["ask"]>;

type Verdict = { readonly decision: "allow" | "deny"; readonly reason?: string } | PermissionOutcome;

const never = new AbortController().signal;

export class Permissions {
  readonly #handlers: PermissionHandlers;
  readonly #log: Log;
  /** Mistakes are logged once. */
  readonly #logged = new Set<string>();
  /** The option that each answer of the user chose. */
  readonly #chosen = new WeakMap<PermissionOutcome, PermissionOption | undefined>();
  /** The errors of `requestPermission`. If a policy rejects with one of them, the question fails; the policy did not throw it. */
  readonly #failures = new Set<unknown>();

  constructor(handlers: PermissionHandlers, log: Log) {
    this.#handlers = handlers;
    this.#log = log;
  }

  /** Answers a question of the agent. */
  answer(session: AskedSession, request: PermissionRequest, asking: Asking): Promise<PermissionOutcome> {
    return this.#question(session, request, asking, async (context) => {
      if (request.options.length === 0) return cancelled;
      const { policy } = this.#handlers;
      if (policy === undefined) return this.#ask(request, context);
      const toolCall = toolCallOf(session, request);
      const wanted: PolicyRequest = { type: "permission", request, ...optional({ toolCall }) };
      // the question of the agent is recorded already
      const ask: Ask = (question, given) => this.#ask(question, { ...context, ...optional({ ...given }) });
      const verdict = await this.#verdict(policy, wanted, { ...context, question: request }, ask);
      if ("outcome" in verdict)
        return outcomeFrom(request, verdict, (message) => this.#complain("answer", message));
      if (verdict.decision === "deny") return optionOfKind(request, "reject_once") ?? cancelled;
      const allowed = optionOfKind(request, "allow_once");
      // an option that lasts says more than the policy did
      if (allowed === undefined) this.#complain("allow_once", noAllowOnce);
      return allowed ?? cancelled;
    });
  }

  /**
   * Resolves when the effect may happen. Call what it gives right before the effect: it throws when the user has
   * cancelled since. Rejects with -32060 when it may not. Undefined without a policy.
   */
  get permit(): Permit | undefined {
    const { policy } = this.#handlers;
    return policy && ((session, effect, signal) => this.#permit(policy, session, effect, signal));
  }

  /** The files and terminals with which the policy serves the session. */
  services(session: AskedSession): PolicyServices | undefined {
    return this.#handlers.policy?.services?.(session, this.#asking(this.#recorded(session, never)));
  }

  /** Answers an announcement of an agent. Undefined if the policy takes no announcements. */
  veto(session: AskedSession, params: unknown, signal: AbortSignal): Promise<object> | undefined {
    const context = { session, signal, ...this.#asking(this.#recorded(session, signal)) };
    return this.#handlers.policy?.veto?.(params, context);
  }

  observe(session: ClientSession, update: SessionUpdate): void {
    if (this.#handlers.policy?.observe === undefined) return;
    this.#tell("observe", (policy) => policy.observe?.(session, update));
  }

  prompted(session: AskedSession): void {
    const context = this.#asking(this.#recorded(session, never));
    this.#tell("prompted", (policy) => policy.prompted?.(session, context));
  }

  /** Tells the policy that the user has cancelled. */
  cancel(session: ClientSession): void {
    this.#tell("cancel", (policy) => policy.cancel?.(session));
  }

  #tell(what: string, tell: (policy: ClientPolicy) => unknown): void {
    const { policy } = this.#handlers;
    if (policy === undefined) return;
    try {
      reportRejection(tell(policy), (error) =>
        this.#log("error", `the policy rejected in ${what}`, { error }),
      );
    } catch (error) {
      this.#log("error", `the policy threw in ${what}`, { error });
    }
  }

  async #permit(
    policy: ClientPolicy,
    session: AskedSession,
    effect: EffectRequest,
    signal: AbortSignal,
  ): Promise<() => void> {
    const { questions } = session;
    const { cancels } = questions;
    const question = effectQuestion(effect, newId());
    const verdict = await askedBy<Verdict | undefined>(questions, { signal }, undefined, (either) =>
      this.#verdict(policy, effect, { session, signal: either, question }, this.#recorded(session, either)),
    );
    const confirm = () => {
      if (signal.aborted || questions.cancels !== cancels) throw denied("the user has cancelled");
    };
    if (verdict === undefined) throw denied("the user has cancelled");
    confirm();
    if ("outcome" in verdict) {
      const { kind } = this.#chosen.get(verdict) ?? chosenOption(question, verdict) ?? {};
      if (kind !== "allow_once" && kind !== "allow_always") throw denied("the user did not allow it");
    } else if (verdict.decision === "deny") throw denied(verdict.reason);
    return confirm;
  }

  /** Records a question and its answer, and answers it as cancelled when the user cancels. */
  async #question(
    session: AskedSession,
    request: PermissionRequest,
    asking: Partial<Asking> & Pick<Asking, "signal">,
    handle: (context: RequestContext) => Promise<PermissionOutcome>,
  ): Promise<PermissionOutcome> {
    const askId = session.asks.asked({ permission: request }, asking);
    let outcome = cancelled;
    try {
      outcome = await askedBy(session.questions, asking, cancelled, (either) =>
        handle({ session, signal: either }),
      );
    } finally {
      // also when the handler fails: the question is over
      session.asks.answered(askId, { permission: outcome });
    }
    return outcome;
  }

  /** Returns a function that asks the user and records the question, for questions that the agent did not ask. */
  #recorded(session: AskedSession, usual: AbortSignal): Ask {
    return (question, { signal = usual } = {}) =>
      this.#question(session, question, { signal }, (context) => this.#ask(question, context));
  }

  #asking(ask: Ask): Pick<PolicyContext, "ask"> {
    return this.#handlers.requestPermission === undefined ? {} : { ask };
  }

  async #verdict(
    policy: ClientPolicy,
    request: PolicyRequest,
    context: Omit<PolicyContext, "ask">,
    ask: Ask,
  ): Promise<Verdict> {
    let given: unknown;
    try {
      given = await policy.decide(request, { ...context, ...this.#asking(ask) });
    } catch (error) {
      if (this.#failures.delete(error)) throw error;
      this.#log("error", "the policy threw, so the request was denied", { type: request.type, error });
      return { decision: "deny" };
    }
    if (given === "ask") {
      if (this.#handlers.requestPermission !== undefined) return ask(context.question);
      return request.type === "permission"
        ? cancelled
        : { decision: "deny", reason: "nobody is there to be asked" };
    }
    if (given === "allow" || given === "deny") return { decision: given };
    const { decision, reason } = isObject(given) ? given : {};
    if (decision === "allow" || decision === "deny")
      return { decision, ...optional({ reason: typeof reason === "string" ? reason : undefined }) };
    // as: a wrong one is described when it is read
    if (isObject(given) && "outcome" in given) return given as unknown as PermissionOutcome;
    this.#complain(
      "decide",
      `policy.decide returned ${argumentText(given)}, which is not a decision, so the request was denied; return ` +
        '"allow", "ask", "deny", { decision, reason } or an answer of the user',
    );
    return { decision: "deny" };
  }

  async #ask(request: PermissionRequest, context: RequestContext): Promise<PermissionOutcome> {
    // the user has cancelled while the policy decided
    if (this.#handlers.requestPermission === undefined || context.signal.aborted) return cancelled;
    try {
      const given: unknown = await this.#handlers.requestPermission(request, context);
      const outcome = { ...outcomeFrom(request, given, (message) => this.#complain("answer", message)) };
      this.#chosen.set(outcome, chosenOption(request, outcome));
      return outcome;
    } catch (error) {
      if (this.#handlers.policy !== undefined) this.#failures.add(error);
      throw error;
    }
  }

  #complain(mistake: string, message: string): void {
    if (this.#logged.has(mistake)) return;
    this.#logged.add(mistake);
    this.#log("warn", message, {});
  }
}

/** Asks for permission before an effect. */
export type Permit = (
  session: AskedSession,
  effect: EffectRequest,
  signal: AbortSignal,
) => Promise<() => void>;

const noAllowOnce =
  'the policy allowed a request that has no option of kind allow_once, so it was denied; return "ask" for it';

function toolCallOf(session: AskedSession, { subject }: PermissionRequest): ToolCallUpdate | undefined {
  if (subject?.type === "tool_call")
    return session.toolCalls.detailsOf(subject.toolCall.toolCallId, subject.toolCall);
  if (subject?.type !== "command" || subject.toolCallId == null) return undefined;
  return session.toolCalls.detailsOf(subject.toolCallId);
}

function denied(reason = "this client does not allow it"): RequestError {
  return RequestError.permissionDenied(`permission denied: ${reason}`);
}

const onceOptions: readonly PermissionOption[] = [
  { optionId: "allow_once", name: "Allow once", kind: "allow_once" },
  { optionId: "reject_once", name: "Reject once", kind: "reject_once" },
];

/** `id` names the access or the command. */
export function effectQuestion(effect: EffectRequest, id: string): PermissionRequest {
  const title = titleOf(effect);
  return {
    title,
    ...optional({ description: descriptionOf(effect) }),
    subject: subjectOf(effect, id, title),
    options: [...onceOptions],
  };
}

function titleOf(effect: EffectRequest): string {
  switch (effect.type) {
    case "read":
      return `Read ${effect.path}`;
    case "write":
      return `Write ${effect.path}`;
    case "execute":
      return `Run ${commandLine(effect)}`;
    case "mcp":
      return `Call ${effect.server}/${effect.tool}`;
  }
}

function descriptionOf(effect: EffectRequest): string | undefined {
  if (effect.type !== "execute") return undefined;
  const variables = Object.entries(effect.env).map(([name, value]) => `${name}=${quoted(value)}`);
  return variables.length === 0 ? undefined : `With these variables: ${variables.join(" ")}`;
}

function subjectOf(effect: EffectRequest, id: string, title: string): PermissionSubject {
  if (effect.type === "execute") return { type: "command", command: commandLine(effect), cwd: effect.cwd };
  if (effect.type === "mcp") {
    const { server, tool, arguments: rawInput } = effect;
    return {
      type: "tool_call",
      toolCall: {
        toolCallId: id,
        title,
        status: "pending",
        kind: "other",
        name: `${server}/${tool}`,
        rawInput,
      },
    };
  }
  const { path } = effect;
  const call = { toolCallId: id, title, status: "pending", locations: [{ path }] } as const;
  if (effect.type === "read")
    return { type: "tool_call", toolCall: { ...call, kind: "read", locations: [{ path }] } };
  const changes = [{ operation: "modify" as const, path }];
  return {
    type: "tool_call",
    toolCall: {
      ...call,
      kind: "edit",
      locations: [{ path }],
      content: [{ type: "diff", path, newText: effect.content, changes }],
    },
  };
}

function commandLine({ command, args }: Extract<EffectRequest, { type: "execute" }>): string {
  return [command, ...args].map(quoted).join(" ");
}

/** As a shell would read it back. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * The answer to a permission request: the `optionId` of one of its options, or undefined for no. The forms of the protocol
 * and of the official SDK, `{ outcome: … }`, are taken too.
 */
export type PermissionAnswer =
  | string
  | undefined
  | PermissionOutcome
  | { readonly outcome: PermissionOutcome };

export const cancelled: PermissionOutcome = { outcome: "cancelled" };

/** Anything that is no answer means no, and is described to `complain`. */
export function outcomeFrom(
  { options }: PermissionRequest,
  given: unknown,
  complain: (message: string) => void,
): PermissionOutcome {
  if (given === undefined) return cancelled;
  const outcome = outcomeOf(given);
  if (outcome === undefined) {
    complain(
      `requestPermission returned ${argumentText(given)}, which is not an answer, so the request was denied; ${wanted}`,
    );
    return cancelled;
  }
  if (outcome.outcome !== "selected" || options.some(({ optionId }) => optionId === outcome.optionId))
    return outcome;
  const offered = options.map(({ optionId }) => argumentText(optionId)).slice(0, 10);
  complain(
    `requestPermission chose the option ${argumentText(outcome.optionId)}, which is not one of ${offered.join(", ")}, ` +
      `so the request was denied; ${wanted}`,
  );
  return cancelled;
}

const wanted = "return the optionId of one of request.options, or undefined for no";

function outcomeOf(given: unknown): PermissionOutcome | undefined {
  if (typeof given === "string") return { outcome: "selected", optionId: given };
  if (!isObject(given)) return undefined;
  // the official SDK wraps it
  if (isObject(given["outcome"])) {
    const inner = outcomeOf(given["outcome"]);
    return inner && { ...inner, ...bothMeta(given, inner) };
  }
  const { outcome, optionId } = given;
  if (outcome === "cancelled") return { outcome, ...metaOf(given) };
  if (outcome !== "selected" || typeof optionId !== "string") return undefined;
  return given as PermissionOutcome; // checked above
}

export function chosenOption(
  { options }: PermissionRequest,
  outcome: PermissionOutcome,
): PermissionOption | undefined {
  return options.find(({ optionId }) => outcome.outcome === "selected" && optionId === outcome.optionId);
}

export function optionOfKind(
  { options }: PermissionRequest,
  kind: "allow_once" | "reject_once",
): PermissionOutcome | undefined {
  const option = options.find((each) => each.kind === kind);
  return option === undefined ? undefined : { outcome: "selected", optionId: option.optionId };
}
