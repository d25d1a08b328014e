// A turn of the coding agent: what the prompt means, what the model is told, what its failure is called.

import { errorCodes, RequestError, type Turn, type TurnEnd } from "@parley/acp";
import type { AgentSetting } from "./agent.ts";
import { runLoop } from "./loop/turn-loop.ts";
import { serversReady } from "./mcp/servers-ready.ts";
import { type Model, ModelError } from "./model/model.ts";
import { offlineModelId } from "./offline/offline-model.ts";
import { offeredTools } from "./permissions/offered-tools.ts";
import { clientVetoes } from "./permissions/vetoes.ts";
import { type LocalCommand, readPrompt } from "./session/commands.ts";
import { contextFiles } from "./session/context-files.ts";
import { runLocalCommand } from "./session/local-commands.ts";
import { modelOf } from "./session/options.ts";
import { checkImages, userParts } from "./session/prompt-content.ts";
import { rebuild } from "./session/rebuild.ts";
import { checkRoots } from "./session/roots.ts";
import { type SessionWork, workOf } from "./session/session-work.ts";
import { systemPrompt } from "./session/system-prompt.ts";
import { titleOf } from "./session/title.ts";
import { tools as codingTools } from "./tools/coding-tools.ts";
import { openWorkspace } from "./tools/workspace.ts";

/** One prompt of the user, from its first word to the title of the session. */
export async function answerPrompt(turn: Turn, setting: AgentSetting): Promise<TurnEnd> {
  const { session } = turn;
  const { models, tools = codingTools } = setting;
  const work = workOf(session);
  // only now, so that a session that is looked at and closed again costs nothing
  if (work.hasHistory) {
    await rebuild(setting.store.entries(session.sessionId), work, turn.messageId).catch(tellDamage);
    work.hasHistory = false;
  }
  const reading = readPrompt(turn.prompt);
  work.beginTurn(reading.type === "prompt" ? reading.mode : undefined);
  const model = () => modelOf(session, models);
  const local = (command: LocalCommand, argument: string) =>
    runLocalCommand(command, argument, {
      turn,
      work,
      models,
      isOffline: model().facts.id === offlineModelId,
    });
  if (reading.type === "local") return local(reading.command, reading.argument);
  checkImages(reading.prompt);
  const isFirst = !work.transcript.messages.some(({ role }) => role === "assistant");
  let asked = reading.prompt;
  let hasWords = false;
  try {
    await serversReady(turn, work.mcp);
    asked = await work.mcp.expand(asked, turn.signal);
  } finally {
    // also when it comes to nothing: the history has it
    hasWords = work.transcript.addUser(userParts(asked, takenBy(model())));
  }
  if (!hasWords) throw nothingSaid();
  await checkRoots(session.roots);
  const vetoes = clientVetoes(turn);
  const [workspace, files] = await Promise.all([
    work.workspaceOf(session, openWorkspace),
    contextFiles(session.roots, vetoes),
  ]);
  const services = workspace.services(turn.client);
  try {
    const end = await runLoop({
      turn,
      work,
      model,
      local,
      system: () =>
        systemPrompt(session, {
          mode: work.modeNow(session),
          context: files,
          jobs: services.jobs.running,
        }),
      tools: (mode) => offeredTools([...tools, ...work.mcp.tools], mode),
      context: {
        ...services,
        signal: turn.signal,
        web: { privateHosts: setting.privateHosts },
        ...(vetoes === undefined ? {} : { vetoes }),
      },
      maxRequests: setting.maxRequests,
    });
    if (isFirst && model().facts.id === offlineModelId) await tellOffline(turn);
    nameSession(turn, work);
    return end;
  } catch (error) {
    if (error instanceof ModelError && !turn.signal.aborted) throw requestError(error);
    throw error;
  }
}

/** The offline model says itself what it cannot see: no other model may be there to be chosen. */
function takenBy({ facts }: Model): Pick<Model["facts"], "name" | "takesImages" | "takesAudio"> {
  return facts.id === offlineModelId ? { ...facts, takesImages: true, takesAudio: true } : facts;
}

const offlineTitle = "This is the offline model: fixed rules, no AI";
const offlineHelp = "For real help configure a model, see `parley help agent`.";

/** Beside the answer, which a script may use as it is; at its end where the client shows nothing beside it. */
async function tellOffline(turn: Turn): Promise<void> {
  if (turn.client.features.notices) return turn.notice("info", offlineTitle, offlineHelp);
  const text = `\n\n_${offlineTitle}. ${offlineHelp}_`;
  await turn.say({ type: "text", text, annotations: { audience: ["user"] } });
}

function nameSession(turn: Turn, work: SessionWork): void {
  if (work.isTitled) return;
  const title = titleOf(turn.text.replace(/^\s*\/[a-z]+\s*/, "")) ?? titleOf(turn.text);
  if (title === undefined) return;
  work.isTitled = true;
  turn.title(title);
}

/** A history that cannot be read is found out about here where the session was resumed: nobody has read it before. */
function tellDamage(error: unknown): never {
  const { kind, sessionId } = (error ?? {}) as { readonly kind?: unknown; readonly sessionId?: unknown };
  if (kind !== "damaged" || typeof sessionId !== "string") throw error;
  const message = `the session ${JSON.stringify(sessionId)} is damaged and cannot be read: delete it, or take it from a backup`;
  throw new RequestError(errorCodes.unavailable, message, { reason: "session_damaged", sessionId });
}

function nothingSaid(): RequestError {
  const message = "the prompt has nothing for the model: write something, or attach a file";
  return new RequestError(errorCodes.invalidParams, message, { reason: "empty_prompt", path: "/prompt" });
}

/** The model's words reach the user; a silent end or "internal error" helps nobody. */
function requestError(error: ModelError): RequestError {
  const code = error.kind === "auth" ? errorCodes.authRequired : errorCodes.unavailable;
  const retryAfter =
    error.retryAfterMs === undefined ? {} : { retryAfter: Math.ceil(error.retryAfterMs / 1000) };
  return new RequestError(code, error.message, { reason: `model_${error.kind}`, ...retryAfter });
}
