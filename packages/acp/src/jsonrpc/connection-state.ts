// What a connection holds between two messages, as JSON, and another connection that goes on from there.

import { type BatchHost, BatchReply } from "./batch-reply.ts";
import { type Connection, partsOf } from "./connection.ts";
import type { ConnectionCounters } from "./connection-options.ts";
import type { InboundRequests } from "./inbound-requests.ts";
import { exactIdIn } from "./message-id.ts";
import type { NoteHook, PendingRequests, PendingState, RequestOptions } from "./pending-requests.ts";

/** The parts of a connection that have something to keep. */
export interface ConnectionParts {
  readonly pending: PendingRequests;
  readonly inbound: InboundRequests;
  readonly batchHost: BatchHost;
  readonly nextId: number;
  /** Goes on with this id, in the middle of a conversation. */
  continueAt(nextId: number): void;
  /** Handles one message of the peer. */
  handle(message: unknown, text: string, batch: BatchReply | undefined): void;
}

/** A request of the peer that has no answer yet. */
interface RequestState {
  /** The message as it came. */
  readonly text: string;
  /** The peer has cancelled it. */
  readonly isCancelled?: boolean;
  /** The place of its batch in `batches`. */
  readonly batch?: number;
}

/** What a connection holds between two messages. */
export interface ConnectionState {
  readonly nextId: number;
  /** Requests of ours that have no answer yet. */
  readonly pending: readonly PendingState[];
  /** Those that we do not wait for any more, and whose answer may still come. */
  readonly givenUp: readonly number[];
  readonly requests: readonly RequestState[];
  /** For each batch that is not answered yet, the answers that wait for the rest. */
  readonly batches: readonly (readonly string[])[];
  readonly counters: Readonly<ConnectionCounters>;
}

/** What the connection holds now. `note` of a pending request is what it was sent with. */
export function connectionState(connection: Connection): Omit<ConnectionState, "pending"> & {
  readonly pending: readonly (PendingState & { readonly note: unknown })[];
} {
  const { pending, inbound, nextId } = partsOf(connection);
  const running = inbound.list;
  const batches = [...new Set(running.flatMap(({ batch }) => batch ?? []))];
  return {
    nextId,
    pending: pending.list,
    givenUp: pending.givenUp,
    requests: running.map(({ text, isCancelled, batch }) => ({
      text,
      ...(isCancelled && { isCancelled }),
      ...(batch !== undefined && { batch: batches.indexOf(batch) }),
    })),
    batches: batches.map(({ answers }) => [...answers]),
    counters: { ...connection.counters },
  };
}

/** Goes on with the ids and counts of another connection to the same peer. Call it before anything is sent or read. */
export function continueConnection(
  connection: Connection,
  { nextId, givenUp, counters }: Omit<ConnectionState, "pending">,
): void {
  const parts = partsOf(connection);
  parts.continueAt(nextId);
  parts.pending.giveUpToo(givenUp);
  Object.assign(connection.counters, counters);
}

/** Waits for the answer to a request that the other connection sent. */
export function adoptRequest<Result>(
  connection: Connection,
  pending: PendingState,
  options: Pick<RequestOptions<Result>, "signal" | "receive"> & NoteHook,
): Promise<Result> {
  return partsOf(connection).pending.adopt(pending, options);
}

/** Handles the requests again that the other connection has not answered, in the order in which they came. */
export function handleAgain(
  connection: Connection,
  { requests, batches }: Pick<ConnectionState, "requests" | "batches">,
): void {
  const parts = partsOf(connection);
  const replies = batches.map((answers) => repliesTo(answers, parts));
  for (const { text, isCancelled, batch } of requests) {
    const message = JSON.parse(text) as { readonly id?: unknown }; // it was a request
    const id = exactIdIn(text, message.id);
    parts.handle(message, text, batch === undefined ? undefined : replies[batch]);
    if (isCancelled) connection.cancelled(id);
  }
  for (const reply of replies) reply.seal();
}

function repliesTo(answers: readonly string[], { batchHost }: ConnectionParts): BatchReply {
  const reply = new BatchReply(batchHost);
  for (const answer of answers) reply.add(JSON.parse(answer) as object); // an answer that was sent
  return reply;
}
