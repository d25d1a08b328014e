// Runs bytes through a decoder, cut as the test likes, and counts the work.

import { limitsFrom } from "../../src/jsonrpc/connection-options.ts";
import type { Fault } from "../../src/jsonrpc/transport.ts";
import {
  defaultFrameLimits,
  type FrameLimits,
  type TextPlatform,
  webPlatform,
} from "../../src/transport/byte-channel.ts";
import { HeaderDecoder } from "../../src/transport/header-decoder.ts";
import { EventDecoder } from "../../src/transport/http/event-decoder.ts";
import { LineDecoder } from "../../src/transport/line-decoder.ts";

export type Event =
  | { readonly message: unknown; readonly text: string }
  | { readonly fault: Fault }
  | { readonly fatal: string };

export interface Decoded {
  readonly events: Event[];
  /** Bytes that went through the platform's decode, and how often it was called. */
  readonly decodedBytes: number;
  readonly decodes: number;
}

const decoders = { line: LineDecoder, header: HeaderDecoder, event: EventDecoder };

export function decode(
  kind: keyof typeof decoders,
  chunks: Iterable<Uint8Array>,
  limits: Partial<FrameLimits> = {},
  options: { readonly end?: boolean } = {},
): Decoded {
  const events: Event[] = [];
  let decodedBytes = 0;
  let decodes = 0;
  const platform: TextPlatform = {
    ...webPlatform,
    decode(bytes) {
      decodes++;
      decodedBytes += bytes.length;
      return webPlatform.decode(bytes);
    },
  };
  const decoder = new decoders[kind](
    {
      message: (message, text) => void events.push({ message, text }),
      reject: (fault) => void events.push({ fault }),
      fatal: (why) => void events.push({ fatal: why }),
    },
    limitsFrom(defaultFrameLimits, limits),
    platform,
  );
  for (const chunk of chunks) {
    // a chunk belongs to whoever read it: what is kept must be a copy
    const lent = new Uint8Array(chunk);
    decoder.push(lent);
    lent.fill(0xff);
  }
  if (options.end ?? true) decoder.end();
  return { events, decodedBytes, decodes };
}

/** Cuts bytes at the given places, which may repeat and be in any order. */
export function* cutAt(bytes: Uint8Array, places: readonly number[]): Generator<Uint8Array> {
  let from = 0;
  for (const place of [...places].sort((a, b) => a - b)) {
    const to = Math.min(place, bytes.length);
    yield bytes.subarray(from, to);
    from = to;
  }
  yield bytes.subarray(from);
}

export function* pieces(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** What an application can tell apart: not the head of a fault, which depends on what was still there. */
export function essence(events: readonly Event[]): unknown[] {
  return events.map((event) => {
    if (!("fault" in event)) return event;
    const { kind, bytes, isCutOff: cutOff = false } = event.fault;
    return { kind, bytes, cutOff };
  });
}
