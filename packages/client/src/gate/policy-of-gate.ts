// The policy of a gate, for a client that wires nothing else of it.

import type { ClientPolicy, PolicyDecision, PolicyRequest } from "@parley/acp";
import { ConnectionError, RequestError } from "@parley/acp";
import { canonicalPath } from "../subjects/canonical-path.ts";
import { commandSubject } from "../subjects/command-subject.ts";
import type { RuleSubject } from "../subjects/subject.ts";
import { answerQuestion, rememberAnswer } from "./agent-question.ts";
import type { Effects, Prepared } from "./effects.ts";
import type { GateOptions } from "./gate-options.ts";
import type { GatedSession, GateState } from "./gate-state.ts";
import { gatedFiles } from "./gated-files.ts";
import { gatedTerminals, isShellLine } from "./gated-terminals.ts";

type EffectRequest = Exclude<PolicyRequest, { type: "permission" }>;

type ToolRequest = Extract<EffectRequest, { type: "mcp" }>;

export function policyOf(
  stateOf: (session: GatedSession) => GateState,
  effects: Effects,
  options: GateOptions,
): Required<ClientPolicy> {
  return {
    async decide(request, { session, signal }) {
      if (session === undefined) return { decision: "deny", reason: "it belongs to no session" };
      const state = stateOf(session);
      if (request.type !== "permission") return decideEffect(request, state, signal, effects, options);
      if (request.toolCall !== undefined) state.noteCall(request.toolCall);
      const answered = await answerQuestion(request.request, state, effects, signal, true);
      if (answered === undefined) return "ask";
      const { effect, reason } = answered.decision;
      return { decision: effect === "allow" ? "allow" : "deny", reason };
    },
    remember(request, option, { session }) {
      if (session === undefined || option === undefined) return;
      const state = stateOf(session);
      if (request.type === "permission") rememberAnswer(request.request, state, option, effects);
      else effects.settle(effects.authority.answered(state, [subjectOf(request)], option));
    },
    cancel: (session) => stateOf(session).forgetApprovals(),
  };
}

/** The services decide as they always do, and nothing is done. */
async function decideEffect(
  request: EffectRequest,
  state: GateState,
  signal: AbortSignal,
  effects: Effects,
  options: GateOptions,
): Promise<PolicyDecision> {
  if (request.type === "mcp") return decideTool(request, state, signal, effects);
  let isDecided = false;
  const deciding: Pick<Effects, "perform"> = {
    async perform(...given) {
      isDecided = await effects.decide(...given);
      return undefined as never; // nobody looks at it
    },
  };
  const [files, terminals] = [gatedFiles(state, deciding, options), gatedTerminals(state, deciding, options)];
  try {
    if (request.type === "read") await files.readText(request.path, { signal });
    else if (request.type === "write") await files.writeText(request.path, request.content, { signal });
    else {
      const { command, args, cwd, env } = request;
      await terminals.create({ command, args, cwd, env, signal });
    }
    return isDecided ? "allow" : "ask";
  } catch (error) {
    if (error instanceof RequestError || error instanceof ConnectionError)
      return { decision: "deny", reason: error.message };
    throw error;
  } finally {
    await Promise.all([files.close(), terminals.close()]);
  }
}

async function decideTool(
  request: ToolRequest,
  state: GateState,
  signal: AbortSignal,
  effects: Effects,
): Promise<PolicyDecision> {
  const subject = subjectOf(request);
  try {
    return (await effects.decide(state, subject, async () => nothingToDo(subject), signal)) ? "allow" : "ask";
  } catch (error) {
    if (error instanceof RequestError || error instanceof ConnectionError)
      return { decision: "deny", reason: error.message };
    throw error;
  }
}

/** Decides about a call of a tool that this client performs. Rejects with RequestError "permission_denied". */
export async function permitTool(
  request: ToolRequest,
  state: GateState,
  signal: AbortSignal,
  effects: Effects,
): Promise<void> {
  const subject = subjectOf(request);
  await effects.perform(state, subject, async () => nothingToDo(subject), signal);
}

/** The client performs it once it is allowed. */
function nothingToDo(subject: RuleSubject): Prepared<undefined> {
  return { subject, run: async () => undefined };
}

/** What an answer is remembered for. */
function subjectOf(request: EffectRequest): RuleSubject {
  if (request.type === "mcp") {
    const { server, tool: name } = request;
    return { origin: "op", operation: "mcp", tool: { server, name } };
  }
  if (request.type !== "execute")
    return { origin: "op", operation: request.type, path: canonicalPath(request.path) };
  const { command, args, env } = request;
  const cwd = canonicalPath(request.cwd);
  const words = isShellLine(command, args, cwd) ? undefined : args;
  return commandSubject("op", command, words, cwd, env);
}
