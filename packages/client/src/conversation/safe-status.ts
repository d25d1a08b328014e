// Makes the texts of a status safe to show where the screen would obey them.

import { optional } from "@parley/acp/jsonrpc";
import type { AgentFacts, SessionProblem, SessionStatus } from "./session-link.ts";

/** Makes a text of an agent safe to show: a line, or a text of several lines. */
export interface SafeTexts {
  /** A text on one line. */
  line(text: string): string;
  /** A text of several lines. */
  text(text: string): string;
}

export const unchanged: SafeTexts = { line: (text) => text, text: (text) => text };

/** The fields that are shown as they are; those that a sheet draws are made safe there. */
export function safeStatus(status: Partial<SessionStatus>, safe: SafeTexts): Partial<SessionStatus> {
  const { agent, problem, progress } = status;
  return {
    ...status,
    ...(agent && { agent: safeAgent(agent, safe) }),
    ...(progress && { progress: safe.line(progress) }),
    ...(problem && { problem: safeProblem(problem, safe) }),
  };
}

function safeAgent(agent: AgentFacts, { line }: SafeTexts): AgentFacts {
  const { name, asker, title } = agent;
  return {
    ...agent,
    name: line(name),
    asker: line(asker),
    title: title === undefined ? undefined : line(title),
  };
}

function safeProblem(problem: SessionProblem, { text }: SafeTexts): SessionProblem {
  const { message, hint, stderr } = problem;
  return {
    ...problem,
    message: text(message),
    ...optional({ hint: hint === undefined ? undefined : text(hint) }),
    ...optional({ stderr: stderr === undefined ? undefined : text(stderr) }),
  };
}
