// Prints events around a session: starting, waiting, crashing, retrying, and output that is not a message.

import type { EditionName } from "@parley/acp";
import { cutText } from "../launch/cut-text.ts";
import type { ManagedAgentEvent } from "../managed/connect-options.ts";

/** Where the events are told. The texts quote the agent: make them safe before you show them. */
export interface Reporter {
  /** Whether `progress` is seen. */
  readonly showsProgress: boolean;
  /** A line that the next one replaces. */
  progress(text: string): void;
  notice(text: string): void;
  stderr(text: string): void;
}

export interface ReporterOptions {
  readonly isVerbose: boolean;
  /** The limit of the whole run. */
  readonly timeoutMs: number | undefined;
}

/** Without a status line, a wait of this length is reported. */
const silenceMs = 5_000;

export function eventReporter(
  printer: Reporter,
  { isVerbose, timeoutMs }: ReporterOptions,
): (event: ManagedAgentEvent) => void {
  let waitsFor = "";
  /** A crash is reported when the agent continues; otherwise it is the end of the run. */
  let crash = "";
  const detail = (text: string): void => {
    if (isVerbose) printer.notice(text);
  };
  return (event) => {
    switch (event.kind) {
      case "starting":
        printer.progress(`starting ${event.agent}`);
        if (event.keys.length > 0) detail(`passing ${event.keys.join(", ")} to ${event.agent}`);
        return;
      case "connecting":
        return printer.progress(`connecting to ${event.agent}`);
      case "waiting": {
        const line = oneLine(event.lastLine);
        const seconds = Math.round(event.elapsedMs / 1000);
        const output = line === "" ? "" : `: ${line}`;
        printer.progress(`waiting for the agent, ${seconds} s${output}`);
        if (printer.showsProgress || event.elapsedMs < silenceMs || waitsFor === event.what) return;
        waitsFor = event.what;
        const most = Math.round(Math.min(event.timeoutMs, timeoutMs ?? event.timeoutMs) / 1000);
        const what = event.what === "session" ? "open the session" : "start";
        return printer.notice(`waiting for the agent to ${what}, ${most} s at most${output}`);
      }
      case "cut":
        return printer.notice(cutText(event));
      case "back":
        return printer.notice("connected again");
      case "ready":
        detail(`${oneLine(event.agent)} speaks ${editionText(event.edition)}`);
        return printer.progress("opening the session");
      case "left_behind":
        return leftBehind(event, printer);
      case "stderr":
        if (isVerbose) printer.stderr(event.text);
        return;
      case "crashed":
        crash = `the agent crashed: ${oneLine(event.message)}`;
        return;
      case "continued":
        if (crash !== "") printer.notice(crash);
        crash = "";
        return printer.notice(continuedText(event));
      case "retrying": {
        const pause = event.delayMs > 0 ? ` in ${Math.ceil(event.delayMs / 1000)} s` : "";
        return printer.notice(`${oneLine(event.problem.message)}: retrying${pause}`);
      }
      case "quiet": {
        const text = `no output from the agent for ${Math.round(event.ms / 1000)} s`;
        return printer.showsProgress ? printer.progress(text) : printer.notice(text);
      }
      case "login":
        return printer.progress(`logging in with ${oneLine(event.method)}`);
      case "warning":
        return printer.notice(oneLine(event.message));
      // reported when it continues, and at the end of the run
      case "session_taken":
      case "restarting":
      case "unread":
        return;
      default:
        return event satisfies never;
    }
  };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/**
 * An edition in words.
 *
 * @example
 * import { editionText } from "@parley/client/host";
 *
 * console.log(editionText("v2")); // version 2
 */
export function editionText(edition: EditionName): string {
  if (edition === "v1") return "version 1";
  return edition === "v2" ? "version 2" : `the dialect ${edition} of version 1`;
}

function leftBehind(
  { paths, isIncomplete }: Extract<ManagedAgentEvent, { kind: "left_behind" }>,
  printer: Reporter,
): void {
  for (const path of paths)
    printer.notice(`${oneLine(path)} is new, and other programs obey it: look at it before you use it`);
  if (isIncomplete)
    printer.notice("the workspace has too many folders to search all of them for new hooks and settings");
}

function continuedText({ how, after }: Extract<ManagedAgentEvent, { kind: "continued" }>): string {
  if (after === "restart")
    return how === "new"
      ? "restarted the agent with a new session; it does not know the previous conversation"
      : "restarted the agent; it continues the session";
  return how === "new"
    ? "started a new session; the agent does not know the previous conversation"
    : "the agent had unloaded the session; it continues the session";
}

type Unread = Extract<ManagedAgentEvent, { kind: "unread" }>;

const shownChars = 80;

export class UnreadOutput {
  readonly #first = new Map<Unread["why"], Unread>();
  readonly #counts = { noise: 0, too_large: 0 };

  add(unread: Unread): void {
    this.#counts[unread.why] += 1;
    if (!this.#first.has(unread.why)) this.#first.set(unread.why, unread);
  }

  /** The report. */
  get lines(): readonly string[] {
    return [...this.#first.values()].map(({ why, bytes, head }) => {
      const count = this.#counts[why];
      const what =
        why === "noise"
          ? `wrote ${count === 1 ? "a line" : `${count} lines`} to stdout that ${count === 1 ? "is not a message" : "are not messages"}, skipped`
          : `sent ${count === 1 ? "a message that is" : `${count} messages that are`} too large, rejected`;
      const line = oneLine(head);
      const shown = line.length > shownChars ? `${line.slice(0, shownChars)}…` : line;
      const size = why === "noise" ? "" : ` (${bytes} bytes)`;
      return `the agent ${what}; ${count === 1 ? "it begins" : "the first begins"}${size}: ${shown}`;
    });
  }
}
