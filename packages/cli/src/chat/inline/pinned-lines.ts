// What stands above the status line while it counts: the plan, work in the background, prompts that wait.

import type { Conversation } from "@parley/client/conversation";
import { drawing } from "../../draw/draw-options.ts";
import { backgroundLine } from "../../draw/event-lines.ts";
import { marksFor } from "../../draw/marks.ts";
import { planLines } from "../../draw/plan-lines.ts";
import { clipped, wrappedWords } from "../../draw/text-lines.ts";
import type { Paint } from "../../terminal/paint.ts";
import { safeLine } from "../../terminal/sanitise.ts";

/** More prompts that wait are counted. */
const mostWaiting = 5;

const marks = marksFor(process.env);

/** The versions of the view at the end of the last turn, and of the one before. */
export interface TurnEnds {
  readonly last: number;
  readonly before: number;
}

export function pinnedLines(
  { view, queue, sending, steering, turn, cwd }: Conversation,
  { last, before }: TurnEnds,
  width: number,
  paint: Paint,
): string[] {
  const options = { width, paint, marks };
  // a turn that makes no plan does not follow the one of the turn before; the plan of the last turn stays
  const since = turn === undefined ? before : last;
  const plans = new Map([...view.plans].filter(([, { version }]) => version > since));
  const background = backgroundLine(view, drawing({ ...options, cwd }));
  const waiting = queue
    .slice(0, mostWaiting)
    .map(({ text }, at) => `${at === 0 ? "next" : "then"}  ${safeLine(text)}`);
  const more = queue.length > mostWaiting ? [`and ${queue.length - mostWaiting} more`] : [];
  const { wait } = turn ?? {};
  return [
    ...planLines({ plans }, { ...options, isIdle: turn === undefined }),
    ...(background === undefined ? [] : [background]),
    ...(wait === undefined
      ? []
      : wrappedWords(safeLine(wait.reason), width).map((line) => paint("warning", line))),
    ...[
      ...sending.map((text) => `sending  ${safeLine(text)}`),
      ...steering.map((text) => `now   ${safeLine(text)}`),
      ...waiting,
      ...more,
    ].map((line) => paint("dim", clipped(line, width))),
  ];
}
