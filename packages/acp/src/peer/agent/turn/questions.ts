// Asks the user for permission and input. A question without an answer is never a yes (A63, A89).

import { isObject, optional } from "../../../base/objects.ts";
import { elicitationAnswerFromWire, metaOf, permissionAnswerFromWire } from "../../../edition/wire-fields.ts";
import { reportRejection } from "../../../jsonrpc/callbacks.ts";
import { argumentText, ConnectionError, RequestError } from "../../../jsonrpc/errors.ts";
import type { ElicitationRequest, ElicitationResponse, PermissionOutcome } from "../../../model/ask.ts";
import type { PermissionOption } from "../../../model/content.ts";
import { ClientReplaced, type ClientRequests } from "../session/client-requests.ts";
import { checkElicitationUrl, checkForm, checkPermission } from "../session/output-rules.ts";
import type { SessionSender } from "../session/session-sender.ts";
import type { SessionUpdates } from "../session/session-updates.ts";
import type { Turn } from "./turn.ts";

type PermissionQuestion = Exclude<Parameters<Turn["requestPermission"]>[0], string>;

type UrlElicitation = Extract<ElicitationRequest, { mode: "url" }>;

/** The request that asks a client. */
type Question = (sender: SessionSender) => { readonly method: string; readonly params: unknown };

const usualOptions: readonly PermissionOption[] = [
  { optionId: "allow_once", name: "Allow", kind: "allow_once" },
  { optionId: "allow_always", name: "Always allow", kind: "allow_always" },
  { optionId: "reject_once", name: "Reject", kind: "reject_once" },
];

export class Questions {
  readonly #updates: SessionUpdates;
  readonly #signal: AbortSignal;
  readonly #turnEnded = new AbortController();
  /** The conversation waits for the answers. Background work has no state of its own. */
  readonly #isForeground: boolean;
  #open = 0;

  constructor(updates: SessionUpdates, signal: AbortSignal, { isForeground = true } = {}) {
    this.#updates = updates;
    this.#signal = signal;
    this.#isForeground = isForeground;
  }

  /** Somebody waits for an answer. */
  get isOpen(): boolean {
    return this.#open > 0;
  }

  /** Stops waiting for answers when the turn is over. */
  close(): void {
    this.#turnEnded.abort();
  }

  /** The option that allows it; undefined when it is not allowed. The signal withdraws this question alone. */
  async permission(
    given: PermissionQuestion,
    withdrawn?: AbortSignal,
  ): Promise<PermissionOption | undefined> {
    if (!isObject(given))
      throw new TypeError(
        `requestPermission: expected a title, or an object with a title, got ${argumentText(given)}`,
      );
    const { options: wanted, onAnswer, ...question } = given;
    const options = [...(wanted === undefined || wanted.length === 0 ? usualOptions : wanted)];
    const permission = { ...question, options };
    this.#updates.checkAsk(permission);
    checkPermission(permission);
    const { sessionId, log } = this.#updates;
    log.checkRoom();
    const askId = this.#updates.newId();
    log.append({ kind: "ask", askId, permission });
    let answer: PermissionOutcome = { outcome: "cancelled" };
    /** The client that was asked last. */
    let { sender } = this.#updates;
    try {
      const result = await this.#ask((asked) => {
        sender = asked;
        return asked.edition.permission(sessionId, permission);
      }, withdrawn);
      if (result !== undefined) answer = permissionAnswerFromWire(result);
    } finally {
      log.append({ kind: "answer", askId, permission: answer, ...optional({ author: sender.author }) });
      const over = sender.edition.permissionOver(permission, answer);
      if (over !== undefined) void sender.sendUpdate(sessionId, over);
    }
    if (answer.outcome !== "selected") return undefined;
    await this.#updates.answered();
    // an option that was never offered is no permission (A90)
    const chosen = options.find(({ optionId }) => optionId === answer.optionId);
    if (chosen === undefined) return undefined;
    // its result is not awaited, so its rejection is only logged
    reportRejection(onAnswer?.(chosen, metaOf(answer)), (error) =>
      this.#updates.sender.log("error", "onAnswer rejected", { error }),
    );
    return chosen.kind === "allow_once" || chosen.kind === "allow_always" ? chosen : undefined;
  }

  async elicit(elicitation: ElicitationRequest): Promise<ElicitationResponse> {
    if (!isObject(elicitation) || typeof elicitation.mode !== "string") {
      const got = isObject(elicitation)
        ? `mode: ${argumentText(elicitation["mode"])}`
        : argumentText(elicitation);
      throw new TypeError(`elicit: expected an object whose mode is "form" or "url", got ${got}`);
    }
    const { sender, sessionId, log, client } = this.#updates;
    checkOffered(elicitation, sender);
    if (elicitation.mode === "form") checkForm(elicitation.requestedSchema);
    if (elicitation.mode === "url") beginUrl(elicitation, client);
    const askId = this.#updates.newId();
    let answer: ElicitationResponse = { action: "cancel" };
    let hasAnswer = false;
    try {
      log.checkRoom();
      log.append({ kind: "ask", askId, elicitation });
      const result = await this.#ask((asked) => {
        checkOffered(elicitation, asked);
        return { method: "elicitation/create", params: { sessionId, ...elicitation } };
      });
      hasAnswer = result !== undefined;
      if (result !== undefined) answer = this.#checked(elicitation, elicitationAnswerFromWire(result));
    } finally {
      log.append({ kind: "answer", askId, elicitation: answer, ...optional({ author: sender.author }) });
      // a flow that the user began goes on until the agent says that it is over
      if (elicitation.mode === "url" && answer.action !== "accept") client.endUrl(elicitation.elicitationId);
    }
    if (hasAnswer) await this.#updates.answered();
    return answer;
  }

  /** A form with wrong values counts as not filled in. */
  #checked(elicitation: ElicitationRequest, answer: ElicitationResponse): ElicitationResponse {
    if (elicitation.mode !== "form" || answer.action !== "accept") return answer;
    const problem = formProblem(elicitation.requestedSchema, answer.content ?? {});
    if (problem === undefined) return answer;
    const { sender, sessionId } = this.#updates;
    sender.log("warn", "the client sent back a form that is not filled in as it asks", {
      sessionId,
      problem,
    });
    return { action: "cancel" };
  }

  get #isOver(): boolean {
    return this.#signal.aborted || this.#turnEnded.signal.aborted;
  }

  /** The answer; undefined when the turn was cancelled or the client withdrew. */
  async #ask(question: Question, own?: AbortSignal): Promise<object | undefined> {
    if (this.#open++ === 0 && this.#isForeground) this.#updates.setState({ state: "requires_action" });
    const signal = AbortSignal.any([this.#signal, this.#turnEnded.signal, ...(own ? [own] : [])]);
    try {
      return await this.#askClient(question, signal);
    } finally {
      if (--this.#open === 0 && this.#isForeground && !this.#isOver) {
        this.#updates.setState({ state: "running" });
      }
    }
  }

  async #askClient(question: Question, signal: AbortSignal): Promise<object | undefined> {
    let { sender } = this.#updates;
    try {
      const send = (asked: SessionSender, until: AbortSignal) => {
        sender = asked;
        const { method, params } = question(asked);
        // withdrawn at once; a late answer is ignored (A64)
        return asked.request(method, params, { signal: until, cancelGraceMs: 0 });
      };
      const result = await this.#updates.client.ask("a question", send, signal);
      return signal.aborted ? undefined : (result as object); // validated by the method's row
    } catch (error) {
      if (signal.aborted) return undefined;
      // whoever has the session now is asked again
      if (error instanceof ClientReplaced) return this.#askClient(question, signal);
      const withdrawn = error instanceof RequestError && error.kind === "cancelled";
      // the question counts as not answered; the reason would be lost otherwise
      if (error instanceof ConnectionError && error.kind === "protocol")
        sender.log("warn", error.message, {});
      // the session ends with its connection: a question is cancelled with it, and not answered by a no before
      if (error instanceof ConnectionError && !sender.isOpen) await ended(signal);
      if (withdrawn || error instanceof ConnectionError) return undefined;
      throw error;
    }
  }
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Also of a client that takes the session over. */
function checkOffered({ mode }: ElicitationRequest, { client }: SessionSender): void {
  const { elicitationForm, elicitationUrl } = client.capabilities;
  if (mode === "form" ? elicitationForm : elicitationUrl) return;
  const message = `the client offers no ${mode} elicitation`;
  throw new RequestError("method_not_found", message, { data: { reason: "capability_missing" } });
}

function beginUrl({ elicitationId, url }: UrlElicitation, client: ClientRequests): void {
  checkElicitationUrl(url);
  if (client.beginUrl(elicitationId)) return;
  const got = JSON.stringify(elicitationId);
  throw new TypeError(`elicit: the elicitation ${got} is open on this connection: take another id`);
}

type Form = Extract<ElicitationRequest, { mode: "form" }>["requestedSchema"];
type Field = Form["properties"][string];

// Patterns and formats are left to the app.
/** Describes the first wrong field; undefined when all are right. Never names a value, which may be a secret. */
function formProblem({ properties, required }: Form, content: Record<string, unknown>): string | undefined {
  for (const name of required ?? []) {
    if (!Object.hasOwn(content, name)) return `${JSON.stringify(name)} is missing`;
  }
  for (const [name, value] of Object.entries(content)) {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (field === undefined) return `${JSON.stringify(name)} was not asked for`;
    const problem = fieldProblem(field, value);
    if (problem !== undefined) return `${JSON.stringify(name)} ${problem}`;
  }
  return undefined;
}

function fieldProblem(field: Field, value: unknown): string | undefined {
  switch (field.type) {
    case "string": {
      if (typeof value !== "string") return "must be a text";
      const choices = choicesOf(field);
      if (choices !== undefined && !choices.includes(value)) return "must be one of its choices";
      return outside([...value].length, field.minLength, field.maxLength, "characters");
    }
    case "number":
    case "integer": {
      if (typeof value !== "number" || !Number.isFinite(value)) return "must be a number";
      if (field.type === "integer" && !Number.isInteger(value)) return "must be a whole number";
      const { minimum, maximum } = field as { minimum?: number | null; maximum?: number | null };
      return outside(value, minimum, maximum, "as its value");
    }
    case "boolean":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "array": {
      if (!Array.isArray(value)) return "must be a list";
      const choices = choicesOf(field.items as Choices);
      if (choices !== undefined && !value.every((item) => choices.includes(item)))
        return "must have nothing but its choices";
      const { minItems, maxItems } = field as { minItems?: number | null; maxItems?: number | null };
      return outside(value.length, minItems, maxItems, "items");
    }
    default:
      // an unknown type of field
      return undefined;
  }
}

interface Choices {
  readonly enum?: readonly string[] | null;
  readonly oneOf?: readonly { readonly const: string }[] | null;
  readonly anyOf?: readonly { readonly const: string }[] | null;
}

function choicesOf(field: Choices): readonly unknown[] | undefined {
  return field.enum ?? (field.oneOf ?? field.anyOf)?.map((choice) => choice.const);
}

function outside(
  amount: number,
  least: number | null | undefined,
  most: number | null | undefined,
  what: string,
): string | undefined {
  if (least != null && amount < least) return `must have at least ${least} ${what}`;
  if (most != null && amount > most) return `must have at most ${most} ${what}`;
  return undefined;
}
