// Between a run and its printer: what we say ourselves, and everything in a format that programs read and logs keep, has no
// secret that we were given. In the formats for people the agent's own words stay as they are.

import type { Entry } from "@parley/acp";
import type { StreamRedactor } from "@parley/acp/redact";
import { safeText } from "../terminal/sanitise.ts";
import type { RunEnd, RunPrinter } from "./run-printer.ts";

export type RunSecrets = () => Promise<readonly string[]>;

export interface RedactingPrinter extends RunPrinter {
  /** What the agent wrote to stderr, for whoever wants to see it. */
  stderr(text: string): void;
  /** Nothing waits any more. */
  settled(): Promise<void>;
}

/** A piece of stderr, in the shape of the pieces of a message. */
interface StderrPiece {
  readonly update: { readonly sessionUpdate: string; readonly content: { readonly text: string } };
}

interface Cleaner {
  readonly stream: StreamRedactor<Entry>;
  readonly stderr: StreamRedactor<StderrPiece>;
  /** Errors are often in the words of others: what only looks like a secret goes too. */
  error(text: string): string;
}

/** The secrets are asked for when there is something to say. */
export function redactingPrinter(
  printer: RunPrinter,
  secrets: RunSecrets,
  { redactsEntries }: { readonly redactsEntries: boolean },
): RedactingPrinter {
  let cleaner: Cleaner | undefined;
  let loading: Promise<void> | undefined;
  const waiting: ((using: Cleaner) => void)[] = [];
  const when = (work: (using: Cleaner) => void): void => {
    if (cleaner !== undefined) return work(cleaner);
    waiting.push(work);
    void load();
  };
  const load = (): Promise<void> => {
    loading ??= cleanerFor(secrets).then((loaded) => {
      cleaner = loaded;
      for (const work of waiting.splice(0)) work(loaded);
    });
    return loading;
  };
  return {
    showsProgress: printer.showsProgress,
    progress: (text) => printer.progress(cleaner?.stream.text(text) ?? text),
    pause: () => printer.pause(),
    started: (start) => when(({ stream }) => printer.started(stream.value(start))),
    entry(entry) {
      if (!redactsEntries && waiting.length === 0) return printer.entry(entry);
      when(({ stream }) => {
        for (const each of redactsEntries ? stream.next(entry) : [entry]) printer.entry(each);
      });
    },
    decision: (decision) => when(({ stream }) => printer.decision(stream.value(decision))),
    stderr: (text) =>
      when(({ stderr }) => {
        const update = { sessionUpdate: "stderr_chunk", content: { text } };
        writeStderr(stderr.next({ update }));
      }),
    notice: (text) => when(({ stream }) => printer.notice(stream.text(text))),
    end: (end) =>
      when((using) => {
        for (const held of using.stream.end()) printer.entry(held);
        writeStderr(using.stderr.end());
        printer.end(cleanEnd(end, using));
      }),
    async settled() {
      if (waiting.length > 0) await load();
    },
  };
}

async function cleanerFor(secrets: RunSecrets): Promise<Cleaner> {
  const [{ Redactor, StreamRedactor }, known] = await Promise.all([import("@parley/acp/redact"), secrets()]);
  // names and paths stay as they are: whoever reads it has to find the file
  const redactor = new Redactor({ names: false, secrets: known });
  const [stream, stderr] = [new StreamRedactor<Entry>(known), new StreamRedactor<StderrPiece>(known)];
  return { stream, stderr, error: (text) => redactor.text(text) };
}

function writeStderr(pieces: readonly StderrPiece[]): void {
  for (const { update } of pieces) process.stderr.write(safeText(update.content.text));
}

function cleanEnd(end: RunEnd, { stream, error: clean }: Cleaner): RunEnd {
  const { error } = end;
  return stream.value({ ...end, ...(error && { error: { ...error, message: clean(error.message) } }) });
}
