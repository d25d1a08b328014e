// Refuses a call before it begins, because of the mode or a rule of the client.

import type { ModeVerdict } from "../permissions/decide-by-mode.ts";
import { unanswered } from "../permissions/question.ts";
import { oneLine } from "../text/safe-text.ts";
import { type Access, type CommandHolder, type ToolContext, ToolError } from "../tools/base/tool.ts";

/** Says why a call does not begin. */
export interface Refusal {
  readonly status: "failed" | "cancelled";
  readonly userText: string;
  readonly modelText: string;
  /** Advice that only the model gets. */
  readonly advice?: string;
}

/** Whether the result of the call shows the model text of a file that it has not read. */
export function isUnread(access: Access): access is Extract<Access, { type: "write" }> {
  return access.type === "write" && access.reads === true;
}

/** Returns the refusal of a call by the mode or by a rule of the client; undefined if the call may begin. */
export async function refusalBefore(
  access: Access,
  verdict: ModeVerdict,
  context: ToolContext,
  holder: CommandHolder | undefined,
): Promise<Refusal | undefined> {
  if (verdict.type === "refuse")
    return { status: "failed", userText: verdict.reason, modelText: verdict.reason };
  // the question covers only the change, so ask the client about reading here
  if (verdict.type === "ask" && isUnread(access))
    return vetoOf({ type: "read", paths: access.paths }, context);
  // a client that runs the command decides about it then
  if (verdict.type !== "allow" || holder?.by === "client") return undefined;
  return vetoOf(access, context, holder);
}

/** Asks the client whether a rule forbids a call that the mode allows. */
export async function vetoOf(
  access: Access,
  { vetoes, signal }: ToolContext,
  holder?: CommandHolder,
): Promise<Refusal | undefined> {
  if (vetoes === undefined) return undefined;
  const isInside = access.type === "run" && !access.isOutside && holder?.by === "sandbox";
  const sandbox = isInside ? holder.profile : undefined;
  let reason: string | undefined;
  try {
    reason = await vetoes.refusalOf(access, signal, sandbox);
  } catch (error) {
    signal.throwIfAborted();
    const message = `This call was not run: the client has to agree, but could not be asked (${messageOf(error)}).`;
    throw new ToolError(message, { cause: error });
  }
  signal.throwIfAborted();
  if (reason === undefined) return undefined;
  return {
    status: "cancelled",
    userText: `It was not allowed: ${oneLine(reason)}`,
    modelText: `The user's rules do not allow this (${oneLine(reason)}).`,
    advice: unanswered.advice,
  };
}

export function messageOf(error: unknown): string {
  return error instanceof Error && error.message !== "" ? error.message : "The tool failed.";
}
