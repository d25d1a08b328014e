// Output of `parley run`: batches writes per tick, pauses the source for a slow reader, and draws the status line.

export interface Output {
  write(text: string): void;
  flush(): void;
}

const flushChars = 64 * 1024;

/** Calls `before` before each write. */
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

/** How much may wait for the reader of our output. */
const longestQueue = 1024 * 1024;

/** A hold ends by itself if it is not repeated. */
const holdAgainMs = 100;

/** Back-pressure for a reader that is slower than the agent. */
export class SlowReader {
  readonly #stream: NodeJS.WriteStream;
  #holding: NodeJS.Timeout | undefined;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  get isBehind(): boolean {
    return this.#stream.writableLength > longestQueue;
  }

  /** Holds the source until everything is read, if too much is waiting. */
  holdIfBehind(hold: (isBehind: boolean) => void): void {
    if (this.#holding !== undefined || !this.isBehind) return;
    hold(true);
    this.#holding = setInterval(() => hold(true), holdAgainMs);
    this.#stream.once("drain", () => {
      this.stop();
      hold(false);
    });
  }

  /** Holds nothing any more. */
  stop(): void {
    clearInterval(this.#holding);
    this.#holding = undefined;
  }
}

/** A line at the bottom of the terminal that the next output replaces. */
export class StatusLine {
  readonly #stream: NodeJS.WriteStream;
  #isDrawn = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  draw(text: string): void {
    // some terminals report 0 columns
    const room = Math.max(20, (this.#stream.columns || 80) - 4);
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

/** Says what is waited for, where a person sees stderr. */
export interface Progress {
  draw(text: string): void;
  clear(): void;
}

export function progressOnStderr(): Progress | undefined {
  const { stderr } = process;
  if (stderr.isTTY !== true) return undefined;
  // a dumb terminal cannot redraw a line
  if (process.env["TERM"] !== "dumb") return new StatusLine(stderr);
  return { draw: (text) => void stderr.write(`${text}\n`), clear: () => undefined };
}
