// The answer to one POST of a client that opens no streams, as events: what is said about its session meanwhile, then the answer.

const encoder = new TextEncoder();

export class PlainEvents {
  readonly body: ReadableStream<Uint8Array>;
  readonly session: string | undefined;
  readonly #maxBytes: number;
  readonly #over: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  /** `over` is called when nobody reads it any more. A reader may leave so many bytes unread. */
  constructor(session: string | undefined, maxBytes: number, over: () => void) {
    this.session = session;
    this.#maxBytes = maxBytes;
    this.#over = over;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => this.#end(),
      },
      { highWaterMark: 0, size: (chunk) => chunk?.byteLength ?? 0 },
    );
  }

  send(text: string): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    controller.enqueue(encoder.encode(`data: ${text.replaceAll(/\r\n|\r|\n/g, "\ndata: ")}\n\n`));
    if (-(controller.desiredSize ?? 0) <= this.#maxBytes) return;
    this.#end();
    controller.error(new Error("the reader is too slow"));
  }

  /** Ends it behind the answer. */
  answer(text: string): void {
    this.send(text);
    this.#controller?.close();
    this.#end();
  }

  #end(): void {
    this.#controller = undefined;
    this.#over();
  }
}
