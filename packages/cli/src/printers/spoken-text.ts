// Text of the agent for programs and files: as it arrives, without control characters.

import type { Paint } from "../terminal/paint.ts";
import { TextSanitiser } from "../terminal/sanitise.ts";

/** A message or thought that arrives in pieces. */
export interface SpokenText {
  /** What can be printed now. */
  push(text: string): string;
  /** The rest. */
  end(): string;
}

export class PlainMessage implements SpokenText {
  readonly #safe = new TextSanitiser();

  push(text: string): string {
    return this.#safe.push(text);
  }

  end(): string {
    return "";
  }
}

/** Each line of a thought is marked. */
export class PlainThought implements SpokenText {
  readonly #paint: Paint;
  readonly #safe = new TextSanitiser();
  #isLineStart = true;

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  push(text: string): string {
    let shown = "";
    for (const line of this.#safe.push(text).split(/(?<=\n)/)) {
      const words = line.replace("\n", "");
      if (words !== "") shown += this.#paint("dim", `${this.#isLineStart ? "| " : ""}${words}`);
      if (line.endsWith("\n")) shown += "\n";
      if (line !== "") this.#isLineStart = line.endsWith("\n");
    }
    return shown;
  }

  end(): string {
    return "";
  }
}
