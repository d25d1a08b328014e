// Makes a standard Request of a request of Node, of either HTTP version.

import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";

export type NodeRequest = IncomingMessage | Http2ServerRequest;

export interface BodyLimits {
  /** The largest body. */
  readonly maxBodyBytes: number;
  /** How long a body may take, in milliseconds. */
  readonly bodyTimeoutMs: number;
}

/** A body that is refused while it is read, with the status for it. */
export class BodyError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface WebRequest {
  readonly request: Request;
  /** Why its body was refused, if it was. */
  bodyError(): BodyError | undefined;
}

/** Throws for a method that a Request cannot have. */
export function webRequest(
  from: NodeRequest,
  origin: string,
  signal: AbortSignal,
  limits: BodyLimits,
): WebRequest {
  const headers = new Headers();
  for (const [name, value] of Object.entries(from.headers)) {
    // those of HTTP/2 begin with a colon
    if (value === undefined || name.startsWith(":")) continue;
    for (const each of [value].flat()) headers.append(name, each);
  }
  const { method = "GET", url = "/" } = from;
  let bodyError: BodyError | undefined;
  const refused = (error: BodyError) => {
    bodyError = error;
  };
  const body = method === "POST" ? bodyOf(from, limits, refused) : undefined;
  // duplex: required where the body is a stream, and missing in the types
  const init = { method, headers, signal, ...(body && { body, duplex: "half" }) };
  return { request: new Request(origin + url, init as RequestInit), bodyError: () => bodyError };
}

function bodyOf(
  from: NodeRequest,
  { maxBodyBytes, bodyTimeoutMs }: BodyLimits,
  refused: (error: BodyError) => void,
): ReadableStream<Uint8Array> {
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const stop = () => {
    isOver = true;
    clearTimeout(timer);
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const fail = (error: Error) => {
          if (isOver) return;
          stop();
          from.pause();
          if (error instanceof BodyError) refused(error);
          controller.error(error);
        };
        timer = setTimeout(
          () => fail(new BodyError(408, `expected the whole body within ${bodyTimeoutMs / 1_000} s`)),
          bodyTimeoutMs,
        );
        timer.unref();
        from.on("data", (chunk: Buffer) => {
          if (isOver) return;
          bytes += chunk.byteLength;
          if (bytes > maxBodyBytes)
            return fail(new BodyError(413, `expected a body of at most ${maxBodyBytes} bytes`));
          controller.enqueue(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
          if ((controller.desiredSize ?? 0) <= 0) from.pause();
        });
        from.once("end", () => {
          if (isOver) return;
          stop();
          controller.close();
        });
        from.once("error", fail);
        from.once("close", () => {
          if (!isOver) fail(new BodyError(400, "the body was cut off"));
        });
        from.pause();
      },
      pull: () => void (isOver || from.resume()),
      cancel() {
        stop();
        from.pause();
      },
    },
    { highWaterMark: 64 * 1024, size: (chunk) => chunk?.byteLength ?? 0 },
  );
}
