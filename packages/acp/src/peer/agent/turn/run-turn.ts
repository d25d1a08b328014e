// Runs one turn: stores its message, calls the prompt handler, and stores and reports its end.

import { backgroundDeadline } from "../../../base/deadline.ts";
import { optional } from "../../../base/objects.ts";
import type { Log } from "../../../jsonrpc/connection-options.ts";
import { isErrorKind } from "../../../jsonrpc/error-kinds.ts";
import { handlerFailure, RequestError, readableThrown } from "../../../jsonrpc/errors.ts";
import {
  type PromptError,
  type PromptResult,
  promptError,
  type SessionUpdate,
  wireError,
} from "../../../model/update.ts";
import { newId } from "../../base/new-id.ts";
import { unavailable } from "../session/guarded-store.ts";
import { checkStopReason } from "../session/output-rules.ts";
import type { Release } from "../session/session-output.ts";
import type { SessionUpdates } from "../session/session-updates.ts";
import type { ReceivedPrompt } from "./received-prompt.ts";
import { RunningTurn, type TurnOptions } from "./running-turn.ts";
import type { AgentSession, PromptEnd, Turn } from "./turn.ts";

type Handler = (turn: Turn) => Promise<PromptEnd> | PromptEnd;

/** A prompt that waits for its turn, or work without one: `run` takes the place of the prompt handler. */
export interface QueuedTurn extends ReceivedPrompt {
  readonly run?: Handler;
}

interface TurnSettings {
  readonly handler: Handler;
  reportsUsage(): boolean;
}

export function newTurn(
  session: AgentSession,
  updates: SessionUpdates,
  queued: QueuedTurn,
  options: TurnOptions,
): RunningTurn {
  const turn: RunningTurn = new RunningTurn(session, updates, queued, {
    ...options,
    author: queued.run === undefined ? updates.sender.author : undefined,
    taken(prompt) {
      turn.joined.push(prompt);
      void insert(updates, prompt).then((isInserted) => {
        // a prompt that was refused has no outcome
        if (!isInserted) turn.joined.splice(turn.joined.indexOf(prompt), 1);
      });
    },
  });
  return turn;
}

const waitsForTurn =
  "session.runTurn() was called during a turn and has waited for its end for a second: a prompt handler that awaits it " +
  "never returns; call it without await";

/** A prompt handler that awaits a turn of its session waits for itself, without a word. */
export function warnOfWait(updates: SessionUpdates, running: () => RunningTurn | undefined): void {
  const turn = running();
  if (turn === undefined) return;
  backgroundDeadline(1_000, () => {
    if (running() === turn && !updates.isClosed) updates.warnOnce(waitsForTurn);
  });
}

/** Runs a turn to its end. Resolves with the prompts that were left in its inbox. */
export async function runTurn(
  turn: RunningTurn,
  queued: QueuedTurn,
  { handler, reportsUsage }: TurnSettings,
): Promise<ReceivedPrompt[]> {
  const { updates } = turn;
  const { log } = updates.sender;
  if (queued.run !== undefined) updates.setState({ state: "running" });
  else if (!(await insert(updates, queued, true))) return turn.inbox.close();
  let outcome: PromptResult;
  let hasReturned = false;
  try {
    // cancelled while its message was being stored
    turn.signal.throwIfAborted();
    const end = await (queued.run ?? handler)(turn);
    hasReturned = true;
    outcome = outcomeOf(end, turn);
  } catch (error) {
    outcome = failureOf(error, turn, log);
  }
  turn.hasEnded = true;
  // it was abandoned: its handler took too long
  if (turn.isOver) return [];
  const left = turn.inbox.close();
  try {
    await turn.finish({ hasReturned });
  } catch (error) {
    outcome = failureOf(error, turn, log);
  }
  if (outcome.usage !== undefined && !reportsUsage()) {
    updates.warnOnce('the usage of a turn is not sent: enable it with unstable: ["usage"]');
    outcome = withoutUsage(outcome);
  }
  await end(turn, queued, outcome);
  return left;
}

/** Ends a turn whose handler ignores its signal. */
export async function abandonTurn(turn: RunningTurn, queued: QueuedTurn): Promise<void> {
  if (turn.isOver) return;
  turn.isOver = true;
  turn.hasEnded = true;
  turn.isAbandoned = true;
  for (const prompt of turn.inbox.close()) prompt.refused(stillWorking());
  await turn.finish({ hasReturned: false });
  await end(turn, queued, { stopReason: "cancelled" });
}

export function turnInProgress(message: string): RequestError {
  return new RequestError("turn_in_progress", message, { data: { reason: "turn_in_progress" } });
}

/** Refuses a prompt after an abandoned turn: a session has one handler at a time, and that one may never end. */
export function stillWorking(): RequestError {
  return turnInProgress(
    "the agent still works on a prompt that was cancelled: close the session and load it again",
  );
}

/** Makes a message part of the conversation: stored first, then acknowledged. */
async function insert(updates: SessionUpdates, prompt: ReceivedPrompt, beginsTurn = false): Promise<boolean> {
  const { messageId } = prompt;
  let release: Release | undefined;
  try {
    release = holdEcho(updates, prompt);
  } catch (error) {
    // it could be decoded, but not be encoded for the client
    const message = `session/prompt: ${error instanceof Error ? error.message : "it cannot be shown"}`;
    prompt.refused(RequestError.invalidParams(message, "/prompt"));
    return false;
  }
  // queued behind the message: a state that is sent meanwhile must not be idle
  if (beginsTurn) updates.setState({ state: "running" });
  const { author } = updates.sender;
  const kind = beginsTurn ? "prompt" : "inbox";
  updates.log.append({ kind, messageId, prompt: prompt.prompt, ...optional({ author }) });
  try {
    await updates.log.flush({ isSynced: true });
  } catch (error) {
    if (beginsTurn) updates.setState({ state: "idle" });
    updates.storeFailed(error);
    updates.log.takeBack(messageId);
    void release?.(false);
    prompt.refused(unavailable());
    return false;
  }
  prompt.inserted(beginsTurn);
  void release?.(true);
  return true;
}

/** Queues the echo of the message. A version that answers at the end of the turn has none. */
function holdEcho(updates: SessionUpdates, { messageId, prompt }: ReceivedPrompt): Release | undefined {
  if (!updates.sender.edition.prompts.answersAtInsertion) return undefined;
  const echo: SessionUpdate = { sessionUpdate: "user_message", messageId, content: [...prompt] };
  // what was read leniently need not be fit to be sent
  updates.output.check(echo);
  return updates.output.hold(echo);
}

async function end(turn: RunningTurn, queued: QueuedTurn, given: PromptResult): Promise<void> {
  const { updates } = turn;
  turn.isOver = true;
  let outcome = given;
  try {
    appendOutcome(turn, queued, outcome);
  } catch (error) {
    // the handler's outcome is not JSON
    outcome = failureOf(error, turn, updates.sender.log);
    appendOutcome(turn, queued, outcome);
  }
  if (updates.work.isSettled) updates.log.settle();
  try {
    await updates.log.flush({ isSynced: true });
  } catch (error) {
    updates.storeFailed(error);
    // an end that is not stored is not acknowledged; a cancelled turn is never an error (A47)
    if (outcome.stopReason !== "cancelled") outcome = { stopReason: "error", error: errorOf(unavailable()) };
  }
  // a client may send its next prompt as soon as it sees the end of this one
  turn.hasReportedEnd = true;
  try {
    showIdle(updates, outcome);
  } catch (error) {
    outcome = failureOf(error, turn, updates.sender.log);
    showIdle(updates, outcome);
  }
  updates.log.patch({});
  // updates that wait for the store, or for a replay, come before the answer (A49)
  await updates.output.drained;
  queued.ended(outcome);
  for (const joined of turn.joined) joined.ended({ ...outcome, joined: true });
}

function appendOutcome(turn: RunningTurn, queued: QueuedTurn, outcome: PromptResult): void {
  // work without a prompt has no message that an outcome could belong to
  for (const { messageId } of queued.run === undefined ? [queued, ...turn.joined] : turn.joined)
    turn.updates.log.append({ kind: "result", messageId, result: outcome });
}

function showIdle(updates: SessionUpdates, { stopReason, error, usage, _meta: meta }: PromptResult): void {
  // an agent may have stop reasons and error codes of its own
  const said = { error: error && wireError(error), usage, _meta: meta };
  const idle = { state: "idle", stopReason, ...optional(said) };
  updates.setState(idle as Extract<SessionUpdate, { state: "idle" }>);
}

function outcomeOf(end: PromptEnd, turn: Turn): PromptResult {
  // a cancelled turn is cancelled, whatever its handler returns (A47); its tokens were spent all the same
  if (turn.signal.aborted)
    return {
      stopReason: "cancelled",
      ...optional({ usage: typeof end === "object" ? end.usage : undefined }),
    };
  const outcome = typeof end === "string" ? { stopReason: end } : (end ?? { stopReason: "end_turn" });
  if (typeof outcome.stopReason !== "string")
    throw new TypeError("a prompt handler must return nothing, a stop reason or { stopReason }");
  checkStopReason(outcome.stopReason);
  // data of a scenario or a JavaScript handler may lack the kind
  const { error } = outcome;
  return error === undefined || isErrorKind(error.kind) ? outcome : { ...outcome, error: promptError(error) };
}

function failureOf(thrown: unknown, turn: RunningTurn, log: Log): PromptResult {
  if (turn.signal.aborted) return { stopReason: "cancelled" };
  const error = readableThrown(thrown);
  // the user's own no is no failure
  if (turn.denials.has(error)) return { stopReason: "end_turn" };
  if (error instanceof RequestError) return { stopReason: "error", error: errorOf(error) };
  const correlationId = newId();
  log("error", "a prompt handler failed", { correlationId, error });
  return { stopReason: "error", error: errorOf(handlerFailure(error, correlationId, turn.exposesErrors)) };
}

function errorOf({ kind, code, message, data }: RequestError): PromptError {
  return { kind, code, message, ...optional({ data }) };
}

function withoutUsage({ usage: _, ...outcome }: PromptResult): PromptResult {
  return outcome;
}
