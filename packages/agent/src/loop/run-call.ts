// One call of a tool, from its arguments to its outcome. What the user sees and what the model is told come from the
// same place, and every call ends with both.

import {
  type Permission,
  type PermissionOption,
  RequestError,
  type ToolCall,
  type ToolCallContent,
  type Turn,
} from "@parley/acp";
import type { ToolCallPart, ToolOutcome } from "../model/model.ts";
import { decide, type Verdict } from "../permissions/decide.ts";
import { permissionOptions } from "../permissions/question.ts";
import { autoApprovalOf } from "../session/options.ts";
import type { SessionWork } from "../session/session-work.ts";
import { unlinked } from "../tools/base/form-rules.ts";
import {
  type PreparedCall,
  type RunContext,
  type Tool,
  type ToolContext,
  ToolError,
} from "../tools/base/tool.ts";
import { type Drafts, meant } from "./drafts.ts";
import { callStart, oneLine } from "./shown-call.ts";

export interface CallSetting {
  readonly turn: Turn;
  readonly work: SessionWork;
  readonly tools: readonly Tool[];
  readonly context: ToolContext;
  /** What was shown of the calls before. */
  readonly drafts: Pick<Drafts, "idOf">;
}

/** Never rejects, but for a cancelled turn: what goes wrong is the outcome. */
export async function runCall(part: ToolCallPart, setting: CallSetting): Promise<ToolOutcome> {
  const { turn } = setting;
  try {
    const tool = findTool(part, setting.tools);
    const prepared = await tool.prepare(part.input, setting.context);
    turn.signal.throwIfAborted();
    return await runPrepared(part, prepared, setting);
  } catch (error) {
    turn.signal.throwIfAborted();
    return await showFailure(part, error, setting);
  }
}

function findTool({ name }: ToolCallPart, tools: readonly Tool[]): Tool {
  const tool = tools.find((each) => each.name === name);
  if (tool !== undefined) return tool;
  const names = tools.map((each) => each.name).join(", ");
  throw new ToolError(
    `There is no tool ${JSON.stringify(name)}. ${names === "" ? "There is none now" : `There are: ${names}`}.`,
  );
}

/** A call that was not understood is shown as well: the user sees what the model tried. */
async function showFailure(
  part: ToolCallPart,
  error: unknown,
  { turn, drafts }: CallSetting,
): Promise<ToolOutcome> {
  const message = inWords(error);
  const toolCallId = drafts.idOf(part);
  const known = toolCallId === undefined ? {} : { toolCallId };
  const start = { ...meant(part), name: part.name, rawInput: part.input, ...known };
  await turn.tool(start, (call) =>
    call.finish("failed", { content: [shownText(message)], rawOutput: toldOf(error) }),
  );
  return failed(part, message, ...adviceOf(error));
}

async function runPrepared(
  part: ToolCallPart,
  prepared: PreparedCall,
  setting: CallSetting,
): Promise<ToolOutcome> {
  const { turn, work } = setting;
  const verdict = () => decide(prepared.access, circumstances(setting));
  if (verdict().type !== "ask") return report(part, prepared, setting, verdict());
  // what was remembered while this one waited counts
  return work.alone(async () => {
    turn.signal.throwIfAborted();
    return report(part, prepared, setting, verdict());
  });
}

function circumstances({ turn, work }: CallSetting) {
  const { session } = turn;
  return { mode: work.modeNow(session), autoApprove: autoApprovalOf(session), grants: work.grants };
}

async function report(
  part: ToolCallPart,
  prepared: PreparedCall,
  setting: CallSetting,
  verdict: Verdict,
): Promise<ToolOutcome> {
  const { turn } = setting;
  // before the call begins: what is refused was never in progress
  const refused = await refusalBefore(prepared, verdict, setting);
  const start = callStart(part, prepared, setting.drafts.idOf(part));
  let outcome: ToolOutcome = failed(part, "It did not end.");
  try {
    await turn.tool(start, async (call) => {
      const refusal =
        refused ??
        (verdict.type === "ask" ? await refusalByUser(call, prepared, verdict, setting) : undefined);
      if (refusal !== undefined) {
        const { status, shown, told, advice } = refusal;
        outcome = failed(part, told, ...(advice === undefined ? [] : [advice]));
        const content = [...(start.content ?? []), shownText(shown)];
        return call.finish(status, { content, rawOutput: advice === undefined ? told : { told, advice } });
      }
      outcome = await perform(part, prepared, setting, call);
    });
  } catch (error) {
    turn.signal.throwIfAborted();
    const isCancelled = error instanceof RequestError && error.code === -32_800;
    outcome = isCancelled
      ? failed(part, "The user cancelled this call.")
      : failed(part, inWords(error), ...adviceOf(error));
  }
  return outcome;
}

interface Refusal {
  readonly status: "failed" | "cancelled";
  readonly shown: string;
  readonly told: string;
  /** For the model alone. */
  readonly advice?: string;
}

const takeNo = "Do not try the same by other means; go on without it or ask.";

/** By the mode, or by a rule of the client. */
async function refusalBefore(
  { access }: PreparedCall,
  verdict: Verdict,
  { context }: CallSetting,
): Promise<Refusal | undefined> {
  if (verdict.type === "refuse") return { status: "failed", shown: verdict.reason, told: verdict.reason };
  return verdict.type === "allow" ? vetoOf(access, context) : undefined;
}

/** Nothing when the call may run. */
async function refusalByUser(
  call: ToolCall,
  { access }: PreparedCall,
  { subjects, reason }: Extract<Verdict, { type: "ask" }>,
  { work }: CallSetting,
): Promise<Refusal | undefined> {
  const { allowed, optionId } = await asked(call, permissionOptions(access, subjects), reason);
  // cancelled while the question was open: nobody wants it any more, whatever the answer was
  call.signal.throwIfAborted();
  if (optionId === "allow_always" || optionId === "reject_always") work.grants.remember(subjects, allowed);
  if (allowed) return undefined;
  return {
    status: "cancelled",
    shown: "It was not allowed.",
    told: "The user rejected this call.",
    advice: takeNo,
  };
}

/** What the mode allows, the client may still have a rule against. */
async function vetoOf(
  access: PreparedCall["access"],
  { vetoes, signal }: ToolContext,
): Promise<Refusal | undefined> {
  if (vetoes === undefined) return undefined;
  let reason: string | undefined;
  try {
    reason = await vetoes.refusalOf(access, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new ToolError(
      `It was not run: the client has to agree, and could not be asked (${inWords(error)}).`,
      {
        cause: error,
      },
    );
  }
  signal.throwIfAborted();
  if (reason === undefined) return undefined;
  return {
    status: "cancelled",
    shown: `It was not allowed: ${oneLine(reason)}`,
    told: `The user's rules do not allow this (${oneLine(reason)}).`,
    advice: takeNo,
  };
}

/** A client that fails to ask is no consent, and the model is told that nothing was done. */
async function asked(call: ToolCall, options: PermissionOption[], reason: string): Promise<Permission> {
  try {
    return await call.ask(options, reason);
  } catch (error) {
    call.signal.throwIfAborted();
    throw new ToolError(`It was not run: the user could not be asked (${inWords(error)}).`, { cause: error });
  }
}

async function perform(
  part: ToolCallPart,
  prepared: PreparedCall,
  setting: CallSetting,
  call: ToolCall,
): Promise<ToolOutcome> {
  try {
    const result = await prepared.run(runContext(setting, call, prepared.presentation.title));
    call.signal.throwIfAborted();
    const { content } = result;
    const told = content.map((each) => (each.type === "text" ? each.text : `[${each.type}]`)).join("\n");
    await call.finish("completed", {
      ...(result.shown === undefined ? {} : { content: [...result.shown] }),
      rawOutput: rawOutput(result.rawOutput, told),
    });
    return { callId: part.id, name: part.name, content, isError: false };
  } catch (error) {
    call.signal.throwIfAborted();
    await call.update({ rawOutput: toldOf(error) });
    throw error;
  }
}

/** What the model was told is part of the history, so that its transcript can be made again. */
function rawOutput(given: unknown, told: string): unknown {
  if (given === undefined || typeof given === "string") return told;
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return { ...given, told };
  return { output: given, told };
}

function runContext({ turn, work, context }: CallSetting, call: ToolCall, title: string): RunContext {
  return {
    ...context,
    signal: call.signal,
    call,
    plan: async (entries) => {
      await turn.plan(entries);
    },
    ask: (question, options) => askUser(turn, { call, title }, question, options),
    terminal: (options) => turn.terminal(options),
    background(start, run) {
      // how it ends is shown where it is shown
      void turn.session
        .background(start, (beside) => run(beside, (options) => turn.session.terminal(options)))
        .catch(() => undefined);
    },
    modes: {
      current: work.modeNow(turn.session),
      switchTo: async (mode) => {
        work.chooseMode(turn.session, mode);
      },
    },
  };
}

/** By a form where the client has them, else by buttons at the call itself. */
async function askUser(
  turn: Turn,
  { call, title }: { readonly call: ToolCall; readonly title: string },
  question: string,
  options: readonly string[],
): Promise<string | undefined> {
  if (turn.client.features.elicitationForm) {
    const answer = await turn.elicit({
      mode: "form",
      message: question,
      requestedSchema: {
        type: "object",
        properties: {
          answer: options.length === 0 ? { type: "string" } : { type: "string", ...choicesOf(options) },
        },
        required: ["answer"],
      },
    });
    const given = answer.action === "accept" ? answer.content?.["answer"] : undefined;
    return typeof given === "string" ? given : undefined;
  }
  if (options.length === 0) return undefined;
  const answers = options.map((name, i) => ({ optionId: `option-${i}`, name, kind: "allow_once" as const }));
  const none = { optionId: "none", name: "No answer", kind: "reject_once" as const };
  // a long question does not fit into the title
  const isSaid = oneLine(title) === question;
  const { optionId } = await call.ask([...answers, none], isSaid ? undefined : question);
  return options.find((_, i) => `option-${i}` === optionId);
}

function choicesOf(options: readonly string[]) {
  if (options.every((option) => unlinked(option) === option)) return { enum: [...options] };
  return { oneOf: options.map((option) => ({ const: option, title: unlinked(option) })) };
}

function failed({ id, name }: ToolCallPart, message: string, ...advice: readonly string[]): ToolOutcome {
  const content = [message, ...advice].map((text) => ({ type: "text" as const, text }));
  return { callId: id, name, content, isError: true };
}

function shownText(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

function inWords(error: unknown): string {
  return error instanceof Error && error.message !== "" ? error.message : "The tool failed.";
}

/** For the model; the history has it as one text. */
function toldOf(error: unknown): string {
  return [inWords(error), ...adviceOf(error)].join("; ");
}

function adviceOf(error: unknown): readonly string[] {
  return error instanceof ToolError && error.advice !== undefined ? [error.advice] : [];
}
