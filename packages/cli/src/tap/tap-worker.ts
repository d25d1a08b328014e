// The recorder's own thread: takes chunks from the ring, makes records of them, writes them to the trace.
// A slow or full disk stops this thread and no other. This module is loaded twice: by the tap for its
// address, and by the thread, where it runs.

import { setPriority } from "node:os";
import { isMainThread, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { type LineLimits, LineRecords } from "./tap-lines.ts";
import { TraceOutput } from "./tap-output.ts";
import { type EntryKind, entryKinds, type RingMemory, RingReader } from "./tap-ring.ts";

/** What the thread is started with. */
export interface RecorderTask {
  readonly task: "parley tap recorder";
  readonly memory: RingMemory;
  readonly fd: number;
  /** The first line of the trace. */
  readonly header: string;
  readonly limits: LineLimits;
  readonly maxBytes: number;
}

/** An event, as the tap hands it over: the fields of its record without the time, or a gap. */
export type RecorderEvent = Readonly<Record<string, unknown>> | Gap;

/** Chunks that found no room: how many bytes of each stream. */
export interface Gap {
  readonly gap: Readonly<Partial<Record<StreamName, number>>>;
}

export type StreamName = "client" | "agent" | "stderr";

/** Sent with the end of the ring: what found no room in it. */
export interface LastWords {
  readonly time: number;
  readonly events: readonly { readonly time: number; readonly event: RecorderEvent }[];
}

/** What the thread tells the tap. */
export type RecorderNews = { readonly kind: "failed"; readonly message: string } | RecorderSummary;

export interface RecorderSummary {
  readonly kind: "done";
  readonly bytes: number;
  readonly lostRecords: number;
  readonly limitReached: boolean;
}

type Streams = Readonly<Record<StreamName, LineRecords>>;

export const recorderModule = import.meta.url;

const recorderNice = 10;

function isTask(value: unknown): value is RecorderTask {
  return (
    typeof value === "object" && value !== null && "task" in value && value.task === "parley tap recorder"
  );
}

function record({ fd, maxBytes, limits, header, memory }: RecorderTask): void {
  giveWay();
  const tell = (news: RecorderNews) => parentPort?.postMessage(news);
  const output = new TraceOutput({ fd, maxBytes, failed: (message) => tell({ kind: "failed", message }) });
  const streams: Streams = {
    client: new LineRecords('"from":"client"', limits, output),
    agent: new LineRecords('"from":"agent"', limits, output),
    stderr: new LineRecords('"event":"stderr"', limits, output),
  };
  const happened = (time: number, event: RecorderEvent): void => {
    // Milliseconds with microseconds: what a reader can still tell apart.
    output.now = time.toFixed(3);
    for (const fields of isGap(event) ? gapEvents(event, streams) : [event]) {
      const { event: name, from } = fields;
      // what a stream said last comes before its end
      if (name === "eof" && (from === "client" || from === "agent")) streams[from].end();
      if (name === "exit") streams.stderr.end();
      output.add(`{"t":${output.now},${JSON.stringify(fields).slice(1)}`);
    }
  };
  const take = (kind: EntryKind, time: number, shared: Buffer): void => {
    if (kind === entryKinds.event) return happened(time, JSON.parse(shared.toString("utf8")));
    output.now = time.toFixed(3);
    const stream = kind === entryKinds.client ? "client" : kind === entryKinds.agent ? "agent" : "stderr";
    // A copy: the ring is used again, and much of node:buffer takes no shared memory.
    streams[stream].push(Buffer.from(shared));
  };

  output.add(header);
  const ring = new RingReader(memory);
  do output.flush();
  while (ring.take(take));
  const last = lastWords();
  for (const { time, event } of last?.events ?? []) happened(time, event);
  for (const stream of Object.values(streams)) stream.end();
  happened(last?.time ?? 0, { event: "end" });
  output.flush();
  const { written, lost, limitReached } = output;
  tell({ kind: "done", bytes: written, lostRecords: lost, limitReached });
}

/** Where the processor is scarce, traffic has it first: Linux has a priority for each thread, others for the process only. */
function giveWay(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(recorderNice);
  } catch {
    // some sandboxes forbid it; then both are served alike
  }
}

function lastWords(): LastWords | undefined {
  // Sent before the ring was ended, so it is here; nobody else sends us anything.
  return parentPort === null ? undefined : receiveMessageOnPort(parentPort)?.message;
}

function isGap(event: RecorderEvent): event is Gap {
  return "gap" in event;
}

function gapEvents({ gap }: Gap, streams: Streams): Readonly<Record<string, unknown>>[] {
  // The keys are ours.
  return (Object.entries(gap) as [StreamName, number][]).map(([stream, bytes]) => ({
    event: "dropped",
    reason: "slow",
    stream,
    bytes: bytes + streams[stream].gap(),
  }));
}

// Last, when everything above is there.
if (!isMainThread && isTask(workerData)) record(workerData);
