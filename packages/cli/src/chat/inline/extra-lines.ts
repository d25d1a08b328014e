// The lines between the transcript and the prompt: the plan, work in the background and the queue.

import { drawing } from "../../draw/draw-options.ts";
import { backgroundLine } from "../../draw/event-lines.ts";
import { marksFor } from "../../draw/marks.ts";
import { planLines } from "../../draw/plan-lines.ts";
import type { Paint } from "../../terminal/paint.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import type { LiveSession } from "../conversation/conversation.ts";

const marks = marksFor(process.env);

export function extraLines({ view, queue, cwd }: LiveSession, width: number, paint: Paint): string[] {
  const options = { width, paint, marks };
  const plan = planLines(view, options);
  const background = backgroundLine(view, drawing({ ...options, cwd }));
  const waiting = queue.map(({ text }, at) => {
    const line = safeLine(text).slice(0, Math.max(10, width - 12));
    return paint("dim", `${at === 0 ? "next" : "then"}  ${line}`);
  });
  return [...plan, ...(background === undefined ? [] : [background]), ...waiting];
}
