// The line above the prompt: agent, mode, model, context, cost, branch, queue, sandbox.

import type { SessionConfigOption } from "@parley/acp";
import type { SessionView } from "@parley/acp/view";
import type { Conversation } from "@parley/client/conversation";
import { costText } from "@parley/client/history";
import { clipped } from "../../draw/text-lines.ts";
import { waitText } from "../../printers/model-wait.ts";
import type { Paint } from "../../terminal/paint.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import { displayWidth } from "../../terminal/word-wrap.ts";
import { selectsOf, valueName } from "../conversation/option-choices.ts";

const separator = " · ";
/** Longer names would take the place of what the user must see. */
const longestName = 32;

/** A name that an agent or a repository chose. */
export function nameOf(text: string): string {
  return clipped(safeLine(text.slice(0, 40 * longestName)), longestName);
}

/** At most `width` columns: what matters least is left out first. */
export function statusLine(session: Conversation, width: number, paint: Paint, now: number): string {
  const parts = statusParts(session, now).filter(({ text }) => text !== "");
  const widthOf = () =>
    parts.reduce((sum, { text }) => sum + displayWidth(text) + separator.length, 0) - separator.length;
  while (parts.length > 1 && widthOf() > width) {
    const least = Math.max(...parts.map(({ rank }) => rank));
    parts.splice(
      parts.findIndex(({ rank }) => rank === least),
      1,
    );
  }
  return parts.map(({ text, role }) => paint(role ?? "dim", text)).join(paint("dim", separator));
}

interface StatusPart {
  readonly text: string;
  /** The highest goes first when there is no room. */
  readonly rank: number;
  readonly role?: "warning" | "accent" | "error";
}

function statusParts(session: Conversation, now: number): StatusPart[] {
  const { agent, view, phase, queue, questions, sandbox, branch } = session;
  return [
    { text: nameOf(agent.name), rank: 0, role: "accent" },
    { ...workText(session, now), rank: 1 },
    { text: questions.length > 1 ? `${questions.length} questions` : "", rank: 2, role: "warning" },
    { text: queue.length > 0 ? `queue ${queue.length}` : "", rank: 3 },
    { text: view.mode === undefined ? "" : nameOf(view.mode.name), rank: 4 },
    { text: phase === "ready" ? modelOf(session.options) : "", rank: 5 },
    { text: contextText(view), rank: 6 },
    { text: view.cost === undefined ? "" : costOf(view.cost), rank: 7 },
    { text: branch === undefined ? "" : nameOf(branch), rank: 8 },
    { text: sandbox, rank: 9 },
  ];
}

function workText(session: Conversation, now: number): Pick<StatusPart, "text" | "role"> {
  const { phase, problem, turn, questions, progress, runsCommand } = session;
  const why = progress === undefined || progress.startsWith("starting") ? "" : `: ${nameOf(progress)}`;
  if (questions.length > 0) return { text: "needs you", role: "warning" };
  if (phase === "starting") return { text: `starting${why}` };
  if (phase !== "ready") return { text: problem?.status ?? phase, role: "error" };
  if (turn === undefined) return runsCommand ? { text: "command runs", role: "accent" } : { text: "" };
  if (turn.wait !== undefined && !turn.isCancelling)
    return { text: waitText(turn.wait, now), role: "warning" };
  const seconds = Math.max(0, Math.floor((now - turn.startedAt) / 1000));
  return { text: `${turn.isCancelling ? "stopping" : "working"} ${seconds} s${why}`, role: "accent" };
}

/** The name of the model; empty if the agent has no choice of them. */
export function modelOf(options: readonly SessionConfigOption[]): string {
  const [model] = selectsOf(options, "model");
  if (model === undefined) return "";
  return nameOf(valueName(model));
}

/** An agent may report more than there is room for. */
function contextText({ usage }: SessionView): string {
  if (usage === undefined || !(usage.size > 0) || !(usage.used >= 0)) return "";
  return `ctx ${Math.min(100, Math.round((100 * usage.used) / usage.size))} %`;
}

function costOf({ amount, currency }: NonNullable<SessionView["cost"]>): string {
  return Number.isFinite(amount) ? costText({ amount, currency: nameOf(currency).slice(0, 10) }) : "";
}
