// What happens around a session, in words.

import type { LiveEvent } from "@parley/client";
import type { RedactingPrinter } from "../printers/redacting-printer.ts";
import { safeLine } from "../terminal/sanitise.ts";

export interface ReporterOptions {
  readonly isVerbose: boolean;
  /** Of the whole run. */
  readonly timeoutMs: number | undefined;
}

/** Whoever sees no progress is told after so long what is waited for. */
const silenceMs = 5_000;

export function eventReporter(
  printer: RedactingPrinter,
  { isVerbose, timeoutMs }: ReporterOptions,
): (event: LiveEvent) => void {
  let waitsFor = "";
  /** The death of an agent is worth a word of its own only when it comes back: else it is how the run ended. */
  let death = "";
  return (event) => {
    switch (event.kind) {
      case "starting":
        printer.progress(`starting ${event.agent}`);
        if (isVerbose && event.keys.length > 0)
          printer.notice(`${event.agent} gets ${event.keys.join(", ")}`);
        return;
      case "connecting":
        return printer.progress(`connecting to ${event.agent}`);
      case "waiting": {
        const line = safeLine(event.lastLine);
        const seconds = Math.round(event.elapsedMs / 1000);
        const said = line === "" ? "" : `: ${line}`;
        printer.progress(`waiting for the agent, ${seconds} s${said}`);
        if (printer.showsProgress || event.elapsedMs < silenceMs || waitsFor === event.what) return;
        waitsFor = event.what;
        const most = Math.round(Math.min(event.timeoutMs, timeoutMs ?? event.timeoutMs) / 1000);
        const what = event.what === "session" ? "open the session" : "start";
        return printer.notice(`waiting for the agent to ${what}, ${most} s at most${said}`);
      }
      case "ready":
        return printer.progress("opening the session");
      case "stderr":
        if (isVerbose) printer.stderr(event.text);
        return;
      case "crashed":
        death = `the agent died: ${safeLine(event.message)}`;
        return;
      case "continued":
        if (death !== "") printer.notice(death);
        death = "";
        return printer.notice(continuedText(event));
      case "retrying": {
        const pause = event.delayMs > 0 ? ` in ${Math.ceil(event.delayMs / 1000)} s` : "";
        return printer.notice(`${safeLine(event.problem.message)}: trying again${pause}`);
      }
      case "quiet":
        return printer.progress(`the agent has said nothing for ${Math.round(event.ms / 1000)} s`);
      case "login":
        return printer.progress(`logging in by ${safeLine(event.method)}`);
      case "warning":
        return printer.notice(safeLine(event.message));
      case "restarting":
        // it is told by how it goes on
        return;
      case "unread":
        // they are counted, and told at the end
        return;
      default:
        return event satisfies never;
    }
  };
}

function continuedText({ how, after }: Extract<LiveEvent, { kind: "continued" }>): string {
  if (after === "restart")
    return how === "new"
      ? "it was started again with a new session, and knows nothing of what was said"
      : "it was started again, and goes on with the session";
  return how === "new"
    ? "a new session has been begun, in which the agent knows nothing of what was said"
    : "the agent had put the session away, and goes on with it";
}
