// Where `parley run` prints. What comes within one tick is written at once, so that a flood of small updates costs few
// writes; pipes and terminals block on Linux, which is the back-pressure that a slow reader needs.

export interface Output {
  write(text: string): void;
  flush(): void;
}

const flushChars = 64 * 1024;

/** `before` is called when something is about to be written. */
export function bufferedOutput(stream: NodeJS.WriteStream, before: () => void = () => undefined): Output {
  let text = "";
  let isScheduled = false;
  const flush = () => {
    isScheduled = false;
    if (text === "") return;
    const whole = text;
    text = "";
    before();
    stream.write(whole);
  };
  return {
    write(more) {
      text += more;
      if (text.length >= flushChars) return flush();
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(flush);
    },
    flush,
  };
}

/** One line at the bottom of a terminal that says what is going on; whatever is printed next takes its place. */
export class StatusLine {
  readonly #stream: NodeJS.WriteStream;
  #isDrawn = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  draw(text: string): void {
    const room = Math.max(20, (this.#stream.columns ?? 80) - 4);
    const shown = text.length > room ? `${text.slice(0, room - 1)}…` : text;
    this.#stream.write(`\r\u001b[K\u001b[2m… ${shown}\u001b[0m`);
    this.#isDrawn = true;
  }

  clear(): void {
    if (!this.#isDrawn) return;
    this.#isDrawn = false;
    this.#stream.write("\r\u001b[K");
  }
}
