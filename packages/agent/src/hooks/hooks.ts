// Hooks of the user or of an embedder: called before and after the calls of tools. They can forbid, and never allow.

import type { ToolOutcome } from "../model/model.ts";
import { ToolError } from "../tools/base/tool.ts";

/** A call of a tool, as hooks see it. */
export interface HookedCall {
  /** The name of the tool. */
  readonly name: string;
  /** The arguments under the names of the tool's schema, whatever the model called them. */
  readonly input: unknown;
  /** The title that the user sees. */
  readonly title: string;
  /** The session. */
  readonly sessionId: string;
  /** The absolute working directory of the session. */
  readonly cwd: string;
  /** Aborts when the turn is cancelled. */
  readonly signal: AbortSignal;
}

/** The result of a call, as hooks see it. */
export type HookedOutcome = Pick<ToolOutcome, "content" | "isError">;

/** Functions that are called before and after the calls of tools. They can make the agent stricter, never more permissive. */
export interface Hooks {
  /**
   * Called before the user is asked about a call. Resolve with the reason to refuse it, or with undefined. A hook that
   * throws refuses, too.
   */
  readonly beforeTool?: ((call: HookedCall) => string | undefined | Promise<string | undefined>) | undefined;
  /** Called with the result of a call. A text that it resolves with is told to the model with the result. */
  readonly afterTool?:
    | ((call: HookedCall, outcome: HookedOutcome) => string | undefined | Promise<string | undefined>)
    | undefined;
}

/** Throws ToolError when a hook refuses the call. */
export async function callBefore(hooks: Hooks | undefined, call: HookedCall): Promise<void> {
  let reason: string | undefined;
  try {
    reason = await hooks?.beforeTool?.(call);
  } catch (error) {
    call.signal.throwIfAborted();
    throw new ToolError(`This call was not run: a hook failed (${wordsOf(error)})`, { cause: error });
  }
  call.signal.throwIfAborted();
  if (reason === undefined) return;
  throw new ToolError(`This call was not run: a hook refused it (${reason.trim() || "without a reason"})`, {
    advice: "do not do the same by other means",
  });
}

/** What the model is told besides the result; empty for nothing. */
export async function callAfter(
  hooks: Hooks | undefined,
  call: HookedCall,
  outcome: HookedOutcome,
): Promise<string> {
  try {
    const note = (await hooks?.afterTool?.(call, outcome))?.trim() ?? "";
    call.signal.throwIfAborted();
    return note === "" ? "" : `[A hook says: ${note}]`;
  } catch (error) {
    call.signal.throwIfAborted();
    return `[A hook failed after this call: ${wordsOf(error)}]`;
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error && error.message !== "" ? error.message : "without a message";
}
