// Pushes the output of one terminal to a dialect's agent: in order, one request at a time, and never more than is taken.

import type * as v1 from "@parley/acp/v1";
import type { Exchange } from "../exchange/exchange.ts";
import { detailsKey, errorCodes, optional } from "../exchange/library.ts";
import { type Stream, TerminalText } from "./terminal-text.ts";

/** Bytes in one request. */
const mostPushed = 64 * 1024;
/** Bytes that wait for a slow agent. */
const mostWaiting = 1024 * 1024;
/** An agent that takes no output in this time would wait for its own answer: it does one thing at a time. */
const longestPush = 10_000;
const shortestPoll = 50;
const longestPoll = 1000;
/** So much of the end is looked for in output whose front was dropped. */
const longestTail = 1024;

export class PushedOutput {
  readonly #exchange: Exchange;
  readonly #terminal: { readonly sessionId: string; readonly terminalId: string };
  #waiting = new TerminalText(mostWaiting);
  #isInFlight = false;
  /** The agent refuses output, or the terminal is released. */
  #isStopped = false;
  /** What to do when everything has been taken. */
  #drained: (() => void)[] = [];
  /** The output that polls have shown; undefined where our side pushes. */
  #seen: string | undefined;
  #delay = shortestPoll;
  #isOver = false;
  #stopPoll: () => void = () => undefined;
  #stopPatience: () => void = () => undefined;

  constructor(exchange: Exchange, terminal: { readonly sessionId: string; readonly terminalId: string }) {
    this.#exchange = exchange;
    this.#terminal = terminal;
  }

  add(data: string, stream: Stream): void {
    if (this.#isStopped) return;
    this.#waiting.add(data, stream);
    this.#push();
  }

  /** Our side does not push: it is asked from time to time, and more seldom while nothing happens. */
  beginPolling(): void {
    this.#seen = "";
    this.#schedule();
  }

  /** Calls back when all output up to now has been taken, or the agent does not take it. */
  drain(done: () => void): void {
    const wait = (): void => {
      this.#drained.push(done);
      if (this.#isStopped) this.#settle();
      else this.#push();
    };
    if (this.#seen === undefined || this.#isStopped || this.#isOver) wait();
    else this.#ask(wait);
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopPoll();
    this.#waiting.clear();
    this.#settle();
  }

  #settle(): void {
    this.#stopPatience();
    for (const done of this.#drained.splice(0)) done();
  }

  #losePatience(): void {
    this.#stopPatience();
    this.#stopPatience = this.#exchange.later(longestPush, () => this.#settle());
  }

  #push(): void {
    if (this.#isInFlight) {
      if (this.#drained.length > 0) this.#losePatience();
      return;
    }
    const { isTruncated } = this.#waiting;
    const next = this.#waiting.take(mostPushed);
    if (next === undefined) return this.#settle();
    this.#isInFlight = true;
    if (this.#drained.length > 0) this.#losePatience();
    this.#waiting.isTruncated = false;
    const { terminalId } = this.#terminal;
    const params = {
      terminalId,
      data: next.data,
      ...optional({ stream: next.stream }),
      ...(isTruncated ? { _meta: { [detailsKey]: { truncated: true } } } : {}),
    };
    this.#exchange.ask("peer", "terminal/output", params, (answer) => {
      this.#isInFlight = false;
      // an agent that does not know the method would refuse the rest too
      if (answer.error?.code === errorCodes.method_not_found) this.stop();
      else this.#push();
    });
  }

  #schedule(): void {
    if (this.#isStopped || this.#isOver) return;
    this.#stopPoll();
    this.#stopPoll = this.#exchange.later(this.#delay, () => {
      // a slow agent is not given more than it takes
      if (this.#isInFlight || this.#waiting.bytes > 0) this.#schedule();
      else this.#ask(() => this.#schedule());
    });
  }

  #ask(then: () => void): void {
    this.#exchange.ask("us", "terminal/output", this.#terminal, (answer) => {
      if (answer.error !== undefined) {
        this.#isOver = true;
        return then();
      }
      const { output, exitStatus } = answer.result as object as v1.TerminalOutputResponse; // our side's
      const fresh = newPart(this.#seen ?? "", output);
      this.#seen = output;
      this.#delay = fresh === "" ? Math.min(2 * this.#delay, longestPoll) : shortestPoll;
      if (exitStatus != null) this.#isOver = true;
      this.add(fresh, undefined);
      then();
    });
  }
}

/** What was not there before. Output whose front was dropped goes on behind what was last seen. */
function newPart(seen: string, output: string): string {
  return output.slice(output.startsWith(seen) ? seen.length : overlapOf(seen, output));
}

/** How much of the front of `output` is the end of what was seen. Repeated text is not searched for ever. */
function overlapOf(seen: string, output: string): number {
  const tail = seen.slice(-longestTail);
  let at = output.lastIndexOf(tail);
  for (let tries = 0; at !== -1 && tries < 64; tries++) {
    const end = at + tail.length;
    if (seen.endsWith(output.slice(0, end))) return end;
    at = at === 0 ? -1 : output.lastIndexOf(tail, at - 1);
  }
  let length = Math.min(tail.length, output.length);
  while (!tail.endsWith(output.slice(0, length))) length -= 1;
  return length;
}
