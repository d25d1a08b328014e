// Runs one tool call: finds the tool, asks for permission, runs it and reports the outcome to user and model.

import { type PermissionOptions, RequestError, type ToolCallHandle } from "@parley/acp";
import { isObject, optional } from "@parley/acp/jsonrpc";
import type { Meta } from "@parley/acp/model";
import { callAfter, callBefore, type HookedCall, type Hooks } from "../hooks/hooks.ts";
import type { ToolCallPart, ToolOutcome } from "../model/model.ts";
import {
  decideByMode,
  type ModeVerdict,
  modesThatAllow,
  type PermissionState,
} from "../permissions/decide-by-mode.ts";
import { isLasting, rememberLasting } from "../permissions/lasting-grants.ts";
import { permissionOptions, type Rejection, rejection, unanswered } from "../permissions/question.ts";
import { autoApprovalOf } from "../session/options.ts";
import type { CodingTurn } from "../session/session-state.ts";
import { textPart } from "../tools/base/define-tool.ts";
import { shownText } from "../tools/base/shown-content.ts";
import {
  type Access,
  type CommandHolder,
  type PreparedCall,
  type RunContext,
  type SubagentReport,
  type SubagentTask,
  type Tool,
  type ToolContext,
  ToolError,
} from "../tools/base/tool.ts";
import { shownPath } from "../tools/base/workspace-path.ts";
import { askUser } from "./ask-user.ts";
import { callStart, type Drafts, draftPresentation } from "./drafts.ts";
import { isUnread, messageOf, refusalBefore, vetoOf } from "./refusals.ts";

export interface RunCallOptions {
  readonly turn: CodingTurn;
  /** The tools that the mode allows. */
  readonly tools: readonly Tool[];
  /** The tools of all modes. */
  readonly all: readonly Tool[];
  readonly context: ToolContext;
  /** Calls that were shown while the model wrote them. */
  readonly drafts: Pick<Drafts, "idOf">;
  /** Called with the access of each call that runs. */
  touched(access: Access): void;
  readonly hooks: Hooks | undefined;
  /** The call of the subagent that makes this one. */
  readonly parent?: { readonly call: ToolCallHandle; readonly name: string };
  /** Has a subagent work on a task of a call. */
  delegate?(task: SubagentTask, call: ToolCallHandle): Promise<SubagentReport>;
}

/** Rejects only when the turn or the subagent is cancelled; any other failure becomes the outcome. */
export async function runCall(part: ToolCallPart, options: RunCallOptions): Promise<ToolOutcome> {
  const { signal } = options.context;
  try {
    const tool = findTool(part, options);
    const prepared = await tool.prepare(part.input, options.context);
    signal.throwIfAborted();
    await callBefore(options.hooks, hookedCall(part, prepared, options.turn));
    return await runPrepared(part, prepared, options);
  } catch (error) {
    signal.throwIfAborted();
    return await showFailure(part, error, options);
  }
}

function findTool({ name }: ToolCallPart, options: RunCallOptions): Tool {
  const { tools } = options;
  const tool = tools.find((each) => each.name === name);
  if (tool !== undefined) return tool;
  const names = tools.map((each) => each.name).join(", ");
  throw new ToolError(
    `${missing(name, options)}. ${names === "" ? "No tools are available now" : `Available tools: ${names}`}.`,
  );
}

function missing(name: string, { turn: { session }, all, parent }: RunCallOptions): string {
  const { data: state } = session;
  const isNamed = (each: { readonly name: string }) => each.name === name;
  if (all.some(isNamed)) return `Mode ${state.modeNow(session)} does not allow ${name}`;
  // the list that the model knows stays as it was; a subagent has its own
  if (parent === undefined && state.prefix?.tools.some(isNamed))
    return `${name} is gone: its MCP server no longer offers it`;
  return `There is no tool ${JSON.stringify(name)}`;
}

/** Shows a call with an unknown tool or invalid arguments, so that the user sees what the model tried. */
async function showFailure(
  part: ToolCallPart,
  error: unknown,
  { turn, drafts, all, parent }: RunCallOptions,
): Promise<ToolOutcome> {
  const message = messageOf(error);
  const toolCallId = drafts.idOf(part);
  const start = {
    ...draftPresentation(part, all),
    name: part.name,
    rawInput: part.input,
    ...optional({ toolCallId, parent: parent?.call }),
  };
  await turn.tool(start, (call) =>
    call.finish("failed", { content: [shownText(message)], rawOutput: modelMessageOf(error) }),
  );
  return failed(part, message, ...adviceOf(error));
}

async function runPrepared(
  part: ToolCallPart,
  prepared: PreparedCall,
  options: RunCallOptions,
): Promise<ToolOutcome> {
  const { turn } = options;
  const { session } = turn;
  const { data: state } = session;
  const holder = prepared.access.type === "run" ? await options.context.terminals.holder() : undefined;
  const verdict = () => decideByMode(prepared.access, { ...permissionState(turn), ...optional({ holder }) });
  const run = (decided: ModeVerdict) =>
    report(part, prepared, { ...options, ...optional({ holder }) }, decided);
  const decided = verdict();
  if (decided.type !== "ask") return run(decided);
  // decide again: an earlier question may have been answered with "always"
  return state.oneAtATime(async () => {
    options.context.signal.throwIfAborted();
    return run(verdict());
  });
}

function permissionState({ session }: CodingTurn): PermissionState {
  const { data: state } = session;
  return {
    mode: state.modeNow(session),
    autoApprove: autoApprovalOf(session),
    grants: state.grants,
    isLasting: (access) => isLasting(access, state.lastingGrants, session.cwd),
    roots: session.roots,
    serverFiles: state.mcp.files,
  };
}

/** The holder is that of a command. */
interface HeldCall extends RunCallOptions {
  readonly holder?: CommandHolder;
}

async function report(
  part: ToolCallPart,
  prepared: PreparedCall,
  options: HeldCall,
  verdict: ModeVerdict,
): Promise<ToolOutcome> {
  const { turn } = options;
  // before the call begins: a refused call must never be shown as in progress
  const refused = await refusalBefore(prepared.access, verdict, options.context, options.holder);
  // hides the call's details: a rule may deny reading the file, and the session's history must not get its text
  const isHidden = refused !== undefined && options.context.vetoes !== undefined && isUnread(prepared.access);
  let rejected = unanswered;
  const start = {
    ...callStart(part, prepared, options.drafts.idOf(part)),
    ...(isHidden && { content: [] }),
    ...optional({ parent: options.parent?.call }),
    ...(verdict.type === "ask" &&
      refused === undefined && {
        permission: question(prepared, verdict, options, (_meta) => {
          rejected = rejection(_meta);
        }),
      }),
  };
  let outcome: ToolOutcome = failed(part, "This call did not end.");
  let hasBegun = false;
  try {
    await turn.tool(start, async (call) => {
      hasBegun = true;
      if (refused === undefined) {
        options.touched(prepared.access);
        outcome = await perform(part, prepared, options, call);
        return;
      }
      const { status, userText, modelText: told, advice } = refused;
      outcome = failed(part, told, ...(advice === undefined ? [] : [advice]));
      const content = [...(start.content ?? []), shownText(userText)];
      await call.finish(status, { content, rawOutput: advice === undefined ? told : { told, advice } });
    });
  } catch (error) {
    options.context.signal.throwIfAborted();
    outcome = failed(part, ...wordsOf(error, hasBegun ? undefined : rejected));
  }
  return outcome;
}

/** The message for the model, and advice. `rejected`: what to say if the user did not let the call begin. */
function wordsOf(
  error: unknown,
  rejected: Rejection | undefined,
): readonly [message: string, ...advice: string[]] {
  const kind = error instanceof RequestError ? error.kind : undefined;
  if (kind === "cancelled") return ["The user cancelled this call."];
  // a tool may pass on that the client refused it a file
  if (kind === "permission_denied" && rejected !== undefined) return [rejected.told, rejected.advice];
  return [messageOf(error), ...adviceOf(error)];
}

function question(
  { access }: Pick<PreparedCall, "access">,
  { subjects, reason }: Extract<ModeVerdict, { type: "ask" }>,
  { turn, parent, holder }: Pick<HeldCall, "turn" | "parent" | "holder">,
  answered: (_meta: Meta | undefined) => void,
): PermissionOptions {
  return {
    options: permissionOptions(
      access,
      subjects,
      modesThatAllow(access, { ...permissionState(turn), ...optional({ holder }) }),
    ),
    description: parent === undefined ? reason : `for the task ${JSON.stringify(parent.name)}: ${reason}`,
    onAnswer({ kind }, { _meta }) {
      answered(_meta);
      const { grants, lastingGrants } = turn.session.data;
      if (kind === "allow_always" && rememberLasting(access, lastingGrants, turn.session.cwd, _meta)) return;
      if (kind === "allow_always" || kind === "reject_always")
        grants.remember(subjects, kind === "allow_always");
    },
  };
}

async function perform(
  part: ToolCallPart,
  prepared: PreparedCall,
  options: RunCallOptions,
  call: ToolCallHandle,
): Promise<ToolOutcome> {
  try {
    const snapshot = options.turn.session.data.undo.before(prepared.access, options.turn, call.signal);
    // a call that asks must do so at once, or it would be shown as running before
    if (snapshot !== undefined) await snapshot;
    const result = await prepared.run(runContext(options, call, prepared.presentation.title));
    call.signal.throwIfAborted();
    const { hasFailed = false } = result;
    const note = await callAfter(options.hooks, hookedCall(part, prepared, options.turn), {
      content: result.content,
      isError: hasFailed,
    });
    const content = note === "" ? result.content : [...result.content, textPart(note)];
    const told = content.map((each) => (each.type === "text" ? each.text : `[${each.type}]`)).join("\n");
    await call.finish(hasFailed ? "failed" : "completed", {
      ...(result.shown && { content: [...result.shown] }),
      rawOutput: rawOutput(result.rawOutput, told),
    });
    return { callId: part.id, name: part.name, content, isError: false };
  } catch (error) {
    call.signal.throwIfAborted();
    await call.update({ rawOutput: modelMessageOf(error) });
    throw error;
  }
}

function hookedCall(
  { name, input }: ToolCallPart,
  { presentation, input: understood = input }: PreparedCall,
  { session, signal }: CodingTurn,
): HookedCall {
  const { sessionId, cwd } = session;
  return { name, input: understood, title: presentation.title, sessionId, cwd, signal };
}

/** Adds the text that the model got, so that `rebuild` can restore the transcript from the history. */
function rawOutput(given: unknown, told: string): unknown {
  if (given === undefined || typeof given === "string") return told;
  if (isObject(given)) return { ...given, told };
  return { output: given, told };
}

/** A call of its own, since the user and the client's rules decide about the host and not about the command. */
async function mayConnect(
  { turn, context }: Pick<RunCallOptions, "turn" | "context">,
  host: string,
): Promise<boolean> {
  const access = { type: "host", host, url: `https://${host}/` } as const;
  const verdict = decideByMode(access, permissionState(turn));
  if (verdict.type === "refuse") return false;
  const permission = verdict.type === "ask" && question({ access }, verdict, { turn }, () => undefined);
  const start = { title: `Connect to ${host}`, kind: "fetch" as const, rawInput: { host } };
  try {
    if (verdict.type === "allow" && (await vetoOf(access, context)) !== undefined) return false;
    await turn.tool({ ...start, ...(permission && { permission }) }, async () => undefined);
    return true;
  } catch {
    // not allowed, or nobody can be asked any more
    return false;
  }
}

/** What a command has created is asked about every time: it was moved aside because other programs would obey it. */
async function mayKeep(turn: CodingTurn, context: ToolContext, paths: readonly string[]): Promise<boolean> {
  const shown = paths.map((path) => shownPath(context, path));
  const more = shown.length > 3 ? ` and ${shown.length - 3} more` : "";
  const reason = `the command created ${shown.join(", ")}. Other programs run or obey ${shown.length > 1 ? "them, so they were" : "it, so it was"} moved out of the workspace. Allow moves ${shown.length > 1 ? "all of them" : "it"} back`;
  const access = { type: "write", paths } as const;
  const permission = question({ access }, { type: "ask", reason, subjects: [] }, { turn }, () => undefined);
  const start = {
    title: `Keep ${shown.slice(0, 3).join(", ")}${more}`,
    kind: "edit" as const,
    locations: paths.map((path) => ({ path })),
    rawInput: { paths },
  };
  try {
    await turn.tool({ ...start, permission }, async () => undefined);
    return true;
  } catch {
    // not allowed, or nobody can be asked
    return false;
  }
}

function runContext(options: RunCallOptions, call: ToolCallHandle, title: string): RunContext {
  const { turn, context, delegate } = options;
  return {
    ...context,
    signal: call.signal,
    call,
    plan: (entries) => turn.plan(entries),
    connect: (host) => mayConnect({ turn, context }, host),
    keeps: (paths) => mayKeep(turn, context, paths),
    async delegate(task) {
      if (delegate === undefined) throw new ToolError("a subagent cannot start another one");
      return delegate(task, call);
    },
    ask: (question, options) => askUser(turn, { call, title }, question, options),
    background(start, run) {
      // its end is shown on the background call itself
      void turn.session.runInBackground(start, run).catch(() => undefined);
    },
    modes: {
      current: turn.session.data.modeNow(turn.session),
      switchTo: async (mode) => {
        turn.session.data.chooseMode(turn.session, mode);
      },
    },
  };
}

function failed({ id, name }: ToolCallPart, message: string, ...advice: readonly string[]): ToolOutcome {
  return { callId: id, name, content: [message, ...advice].map(textPart), isError: true };
}

/** The error and its advice as one text, for the model and the history. */
function modelMessageOf(error: unknown): string {
  return [messageOf(error), ...adviceOf(error)].join("; ");
}

function adviceOf(error: unknown): readonly string[] {
  return error instanceof ToolError && error.advice !== undefined ? [error.advice] : [];
}
