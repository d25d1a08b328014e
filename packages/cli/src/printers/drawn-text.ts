// Text of the agent at a terminal: Markdown, block by block as they are finished.

import type { Marks } from "../draw/marks.ts";
import { indented, messageIndent, plainLines } from "../draw/message-lines.ts";
import { StreamedMarkdown } from "../draw/streamed-markdown.ts";
import type { Paint } from "../terminal/paint.ts";
import type { SpokenText } from "./spoken-text.ts";

export interface DrawnTextOptions {
  readonly paint: Paint;
  readonly marks: Marks;
  /** Called each time, since windows change. */
  readonly width: () => number;
}

export function drawnMessage({ paint, width }: DrawnTextOptions): SpokenText {
  const markdown = new StreamedMarkdown(paint);
  const room = () => width() - messageIndent.length;
  return {
    push(text) {
      markdown.push(text);
      return printed(indented(markdown.takeFinished(room())));
    },
    end: () => printed(indented(markdown.end(room()))),
  };
}

/** Line by line, as it was written. */
export function drawnThought({ paint, marks, width }: DrawnTextOptions): SpokenText {
  let rest = "";
  let isFirst = true;
  const drawn = (text: string): string => {
    if (text.trim() === "") return "";
    const lines = plainLines(text, width() - messageIndent.length).map((line) => {
      const mark = isFirst ? marks.thought : " ";
      isFirst = false;
      return paint("dim", `${mark} ${line}`.trimEnd());
    });
    return printed(lines);
  };
  return {
    push(text) {
      rest += text;
      const end = rest.lastIndexOf("\n") + 1;
      const whole = rest.slice(0, end);
      rest = rest.slice(end);
      return drawn(whole);
    },
    end() {
      const last = rest;
      rest = "";
      return drawn(last);
    },
  };
}

function printed(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}
