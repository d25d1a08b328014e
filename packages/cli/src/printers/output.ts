// Where `parley run` prints. What comes within one tick is written at once, so that a flood of small updates costs few
// writes. Terminals block on Linux; what waits for the slow reader of a pipe is bounded by making its source wait.

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

/** So much may wait for whoever reads our output. */
const longestQueue = 1024 * 1024;

/** Somebody who may read slower than an agent talks (F6). */
export class SlowReader {
  readonly #stream: NodeJS.WriteStream;
  #isWaitedFor = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  get isBehind(): boolean {
    return this.#stream.writableLength > longestQueue;
  }

  /** Makes the source wait until all is read, if too much is waiting by now. */
  holdBack(source: { pause(): void; resume(): void }): void {
    if (this.#isWaitedFor || !this.isBehind) return;
    this.#isWaitedFor = true;
    source.pause();
    this.#stream.once("drain", () => {
      this.#isWaitedFor = false;
      source.resume();
    });
  }
}

/** One line at the bottom of a terminal that says what is going on; whatever is printed next takes its place. */
export class StatusLine {
  readonly #stream: NodeJS.WriteStream;
  #isDrawn = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  draw(text: string): void {
    // some terminals say that they have none
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
