// Starts the agent and takes the session that a run works in: a new one, or one that it goes on with.

import { type ConnectedAgent, ConnectionError, RequestError } from "@parley/acp";
import {
  LaunchError,
  type LiveAgent,
  type LiveOptions,
  type LivePlace,
  type LiveSession,
  liveAgent,
  problemOf,
} from "@parley/client";
import { safeLine, safeText } from "../terminal/sanitise.ts";
import { busySession, isBusy } from "./busy-session.ts";
import { exitCodes, RunError } from "./run-ending.ts";
import type { RunTarget } from "./run-target.ts";

const shownStderr = 4096;

export interface TakenSession {
  readonly session: LiveSession;
  /** Whether the agent knows what was said before. */
  readonly isResumed: boolean;
}

/** Rejects with a RunError. Where stderr was shown as it came, the error does not show it once more. */
export async function startAgent(
  target: RunTarget,
  { isStderrShown }: { readonly isStderrShown: boolean },
  options: LiveOptions,
): Promise<LiveAgent> {
  try {
    return await liveAgent(target.entry, options);
  } catch (error) {
    throw runErrorFrom(error, isStderrShown);
  }
}

/** Rejects with a RunError. `flags` are what the user wants set: "mode", "model", "option x". */
export async function takeSession(
  live: LiveAgent,
  { known, listed }: RunTarget,
  place: LivePlace,
  { flags, notice }: { readonly flags: readonly string[]; readonly notice: (text: string) => void },
): Promise<TakenSession> {
  try {
    const old = listed?.sessionId ?? known?.agentSessionId;
    const again = old === undefined ? undefined : await reopened(live, old, place, notice);
    const session = again ?? (await live.open(place));
    for (const { what, why, message } of session.setupProblems) {
      // what the config wishes for is no reason to stop
      if (!flags.includes(what)) notice(message);
      else if (why === "refused") throw new RunError(exitCodes.agentError, "setup", message);
      else throw new RunError(exitCodes.usage, "setup", message, "see parley help run");
    }
    return { session, isResumed: again !== undefined };
  } catch (error) {
    throw runErrorFrom(error);
  }
}

/** Nothing where the agent cannot, or does not know the session any more: then a new one is begun, and the user is told. */
async function reopened(
  live: LiveAgent,
  sessionId: string,
  place: LivePlace,
  notice: (text: string) => void,
): Promise<LiveSession | undefined> {
  const { resume, load } = live.connected.features;
  if (!resume && !load) {
    notice(
      "this agent cannot go on with an old session: it begins a new one and knows nothing of what was said",
    );
    return undefined;
  }
  try {
    return await live.reopen(sessionId, place, "silent");
  } catch (error) {
    // agents have many codes for a session that they do not have; whatever it was, a new one shows whether the agent works
    if (!(error instanceof RequestError) || problemOf(error).kind === "login_needed") throw error;
    if (isBusy(error)) throw busySession(sessionId, error);
    notice(
      `the agent has no such session any more (${safeLine(error.message)}): it begins a new one and knows nothing of what was said`,
    );
    return undefined;
  }
}

export function runErrorFrom(error: unknown, isStderrShown = false): Error {
  if (error instanceof LaunchError) {
    const { kind, message, hint, stderr = "" } = error;
    const text = withStderr(message, isStderrShown ? "" : stderr);
    if (kind === "login_needed") return new RunError(exitCodes.loginNeeded, kind, text, hint);
    // we gave up: whoever told us to says why
    if (kind === "aborted") return new RunError(exitCodes.cancelled, kind, text);
    return new RunError(
      kind === "crash_loop" ? exitCodes.agentError : exitCodes.notStarted,
      kind,
      text,
      hint,
    );
  }
  if (error instanceof ConnectionError) {
    const { kind, message, stderr = "" } = error;
    const isWrong = kind === "protocol" || kind === "too_large";
    return new RunError(
      exitCodes.agentError,
      isWrong ? "protocol" : "agent_gone",
      withStderr(`the agent ${isWrong ? "broke the protocol" : "has gone"}: ${message}`, stderr),
      isWrong
        ? "parley tap -- COMMAND shows what it says on the wire"
        : `${stderr.trim() === "" ? "it wrote nothing to stderr" : "what it wrote to stderr says why"}; try again`,
    );
  }
  if (error instanceof RequestError) {
    const { kind, message } = problemOf(error);
    return new RunError(
      kind === "login_needed" ? exitCodes.loginNeeded : exitCodes.agentError,
      "agent_error",
      `the agent opened no session: ${safeLine(message)} (${error.code})`,
      ...(isUnusableStore(error) ? [storeHint] : []),
    );
  }
  // the agent does not offer what the flags need
  if (error instanceof TypeError) return new RunError(exitCodes.usage, "not_offered", error.message);
  return error instanceof Error ? error : new Error(String(error));
}

const storeHint =
  "--verbose shows the agent's log; for our own agent parley doctor looks at it, PARLEY_HOME moves what is kept, and --no-history keeps nothing";

function isUnusableStore({ data }: RequestError): boolean {
  return typeof data === "object" && data !== null && "reason" in data && data.reason === "store_unusable";
}

/** The end of what an agent wrote to stderr belongs to the message. */
function withStderr(message: string, stderr: string): string {
  const said = safeText(stderr.slice(-shownStderr)).trim();
  return said === "" || message.includes(`\n${said}`) ? safeText(message) : `${safeText(message)}\n${said}`;
}

export function describeAgent({ info, version }: ConnectedAgent, name: string) {
  return {
    agent: { name: info?.name ?? name, ...(info === undefined ? {} : { version: info.version }) },
    protocol: version,
  };
}
