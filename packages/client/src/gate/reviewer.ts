// A reviewer: a command that gets each question as JSON and says allow, deny or ask.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { groupMark, ProcessGroup } from "@parley/acp/internal/node";
import { isObject } from "@parley/acp/jsonrpc";
import { shownLine } from "../subjects/shown-text.ts";
import type { PermissionQuestion, PermissionReply } from "./permission-question.ts";

/** The command of a reviewer. */
export interface ReviewerOptions {
  /** A line for the shell. */
  readonly command: string;
  /** The agent that asks, for the reviewer. */
  readonly agent?: string | undefined;
  /** How long it may take. Default 60 seconds. */
  readonly timeoutMs?: number | undefined;
  /** Told in one line why a question is passed on: the reviewer failed, or says nothing that can be understood. */
  note?(text: string): void;
}

const defaultTimeoutMs = 60_000;
const maxAnswerBytes = 64 * 1024;
const killMs = 1_000;

/**
 * Creates a reviewer for a gate: a command that gets each question as JSON and prints its decision. Each answer counts once.
 * If the command fails, the question goes to the person.
 *
 * @example
 * import { permissionGate, reviewer } from "@parley/client/policy";
 *
 * export const gate = permissionGate({ reviewer: reviewer({ command: "./review.sh" }) });
 */
export const reviewer =
  (options: ReviewerOptions) =>
  async (question: PermissionQuestion): Promise<PermissionReply> => {
    const choiceOf = (effect: "allow" | "deny") =>
      question.choices.find(
        (choice) => choice.effect === effect && choice.scope === "once" && !choice.isExtra,
      );
    try {
      const { decision, reason } = readAnswer(await answerOf(question, options));
      if (decision === "ask") return undefined;
      const id = choiceOf(decision)?.id;
      if (id === undefined) throw new Error(`the agent offers no way to ${decision} it once`);
      return { id, by: "reviewer", ...(reason === undefined ? {} : { said: reason }) };
    } catch (error) {
      if (!question.signal.aborted)
        options.note?.(
          `the reviewer did not decide: ${shownLine(error instanceof Error ? error.message : "", 300)}`,
        );
      return undefined;
    }
  };

/** What the command prints. */
async function answerOf(question: PermissionQuestion, options: ReviewerOptions): Promise<string> {
  const { command, timeoutMs = defaultTimeoutMs } = options;
  const mark = groupMark();
  const child = spawn(command, {
    shell: true,
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, [mark]: "1" },
  });
  const { pid } = child;
  if (pid === undefined) {
    const [error] = await once(child, "error");
    throw error;
  }
  const group = new ProcessGroup(Object.assign(child, { pid }), mark);
  const signal = AbortSignal.any([question.signal, AbortSignal.timeout(timeoutMs)]);
  const closed = once(child, "close", { signal });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed = (printed + text).slice(0, maxAnswerBytes);
  });
  // a command that does not read its input is no error
  child.stdin.on("error", () => undefined);
  child.stdin.end(`${JSON.stringify(questionJson(question, options))}\n`);
  try {
    const [code] = await closed;
    if (code !== 0) throw new Error(`it ended with exit code ${String(code)}`);
    return printed;
  } catch (error) {
    if (signal.aborted && !question.signal.aborted) throw new Error(`no answer within ${timeoutMs} ms`);
    throw error;
  } finally {
    await group.terminate(killMs);
  }
}

/** The question as a reviewer gets it. */
function questionJson(question: PermissionQuestion, { agent }: ReviewerOptions): object {
  const { sessionId, summary, reason, subjects, claimed, diff, moreDiffs, patch, env } = question;
  return { v: 1, agent, sessionId, summary, reason, subjects, env, claimed, diff, moreDiffs, patch };
}

function readAnswer(text: string): { readonly decision: "allow" | "deny" | "ask"; readonly reason?: string } {
  const wanted = 'expected {"decision":"allow"}, "deny" or "ask"';
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Error(`${wanted}, got ${JSON.stringify(text.slice(0, 100))}`);
  }
  const { decision, reason } = isObject(answer) ? answer : {};
  if (decision !== "allow" && decision !== "deny" && decision !== "ask")
    throw new Error(`${wanted}, got ${JSON.stringify(answer).slice(0, 100)}`);
  return typeof reason === "string" && reason !== "" ? { decision, reason } : { decision };
}
