// The interface of the printers of `parley run`, and a printer that removes known secrets.

import type { EditionName, Entry, PromptResult } from "@parley/acp";
import type { StreamRedactor } from "@parley/acp/redact";
import type { SecretsLoader } from "../settings/known-secrets.ts";
import { safeText } from "../terminal/sanitise.ts";

export interface RunStart {
  readonly agent: { readonly name: string; readonly version?: string };
  /** The version of the protocol. */
  readonly protocol: number;
  /** Its edition, which may be a dialect of version 1. */
  readonly edition: EditionName;
  /** The agent's id of the session. */
  readonly sessionId: string;
  /** The id in the history, if the session is stored. */
  readonly session: string | undefined;
  readonly name: string | undefined;
  readonly resumed: boolean;
  readonly cwd: string;
}

export interface RunFailure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

export interface RunEnd {
  readonly exitCode: number;
  /** Absent when no prompt was answered. */
  readonly outcome: PromptResult | undefined;
  /** The number of refusals by policy. */
  readonly refused?: number;
  readonly error: RunFailure | undefined;
  readonly durationMs: number;
}

/** A decision about something that the agent wanted to do. */
export interface RunDecision {
  /** One line. */
  readonly what: string;
  /** `violation`: the agent did it without asking, although a rule forbids it or wants it asked. */
  readonly effect: "allow" | "deny" | "cancelled" | "violation";
  readonly by: "rule" | "default" | "boundary" | "user" | "reviewer" | "nobody" | "approval" | "agent";
  /** Names the rule, if one matched. */
  readonly reason: string;
}

export interface RunPrinter {
  /** Whether progress is visible. */
  readonly showsProgress: boolean;
  /** Loads what it draws with, once. Called when the agent's process was started, and awaited before the first entry. */
  load?(): Promise<void>;
  /** Shows what is happening, if the output is a terminal. */
  progress(text: string): void;
  /** Called before something else uses the terminal. No status is drawn until `resume`. */
  pause(): void;
  resume(): void;
  started(start: RunStart): void;
  entry(entry: Entry): void;
  decision(decision: RunDecision): void;
  /** Prints a message that is not an error. */
  notice(text: string): void;
  end(end: RunEnd): void;
}

export interface RedactingPrinter extends RunPrinter {
  load(): Promise<void>;
  /** Prints the agent's stderr. */
  stderr(text: string): void;
  /** Resolves when everything was passed on. */
  settled(): Promise<void>;
}

/** A piece of stderr in the shape of a message chunk, as streamRedactor needs it. */
interface StderrPiece {
  readonly update: { readonly sessionUpdate: string; readonly content: { readonly text: string } };
}

interface Redactors {
  readonly stream: StreamRedactor<Entry>;
  readonly stderr: StreamRedactor<StderrPiece>;
  /** Also removes what only looks like a secret, since errors often quote others. */
  error(text: string): string;
}

/** Loads the secrets when there is something to print. */
export function redactingPrinter(
  printer: RunPrinter,
  secrets: SecretsLoader,
  { redactsEntries }: { readonly redactsEntries: boolean },
): RedactingPrinter {
  let redactors: Redactors | undefined;
  let loading: Promise<void> | undefined;
  const waiting: ((using: Redactors) => void)[] = [];
  const when = (work: (using: Redactors) => void): void => {
    if (redactors !== undefined) return work(redactors);
    waiting.push(work);
    void load();
  };
  const load = (): Promise<void> => {
    loading ??= loadRedactors(secrets).then((loaded) => {
      redactors = loaded;
      for (const work of waiting.splice(0)) work(loaded);
    });
    return loading;
  };
  return {
    showsProgress: printer.showsProgress,
    load: async () => printer.load?.(),
    progress: (text) => printer.progress(redactors?.stream.text(text) ?? text),
    pause: () => printer.pause(),
    resume: () => printer.resume(),
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
        printer.end(redactEnd(end, using));
      }),
    async settled() {
      if (waiting.length > 0) await load();
    },
  };
}

async function loadRedactors(secrets: SecretsLoader): Promise<Redactors> {
  const [{ redactor, streamRedactor }, known] = await Promise.all([import("@parley/acp/redact"), secrets()]);
  // names and paths stay: readers must find the file
  const quoted = redactor({ names: false, secrets: known });
  const [stream, stderr] = [streamRedactor<Entry>(known), streamRedactor<StderrPiece>(known)];
  return { stream, stderr, error: (text) => quoted.text(text) };
}

function writeStderr(pieces: readonly StderrPiece[]): void {
  for (const { update } of pieces) process.stderr.write(safeText(update.content.text));
}

function redactEnd(end: RunEnd, { stream, error: redact }: Redactors): RunEnd {
  const { error } = end;
  return stream.value({ ...end, ...(error && { error: { ...error, message: redact(error.message) } }) });
}
