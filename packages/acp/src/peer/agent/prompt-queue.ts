// The prompts of one session, one turn at a time: they wait in line, join the turn that runs, or are refused.

import { RequestError } from "../../jsonrpc/errors.ts";
import type { ContentBlock, Meta } from "../../model/content.ts";
import type { Outcome } from "../../model/update.ts";
import type { TurnEnd } from "./agent-definition.ts";
import type { AgentSession } from "./agent-session.ts";
import { abandonTurn, runTurn, type Turn } from "./turn.ts";

/** A prompt on its way: whoever sent it is told when it is part of the conversation, and when its work ended. */
export interface PromptTicket {
  readonly prompt: readonly ContentBlock[];
  /** Custom data of the request. */
  readonly meta?: Meta;
  readonly messageId: string;
  /** Work without a prompt: there is no message, and this runs instead of the prompt handler. */
  readonly run?: (turn: Turn) => Promise<TurnEnd> | TurnEnd;
  inserted(): void;
  ended(outcome: Outcome): void;
  refused(error: RequestError): void;
}

export class PromptQueue {
  readonly #session: AgentSession;
  #waiting: PromptTicket[] = [];
  #current: PromptTicket | undefined;
  #turn: Turn | undefined;
  #running: Promise<void> | undefined;

  constructor(session: AgentSession) {
    this.#session = session;
  }

  get turn(): Turn | undefined {
    return this.#turn;
  }

  /** Resolves when nothing runs and nothing waits; nothing when that is so now. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  add(ticket: PromptTicket): void {
    const { steering, concurrentPrompts } = this.#session.link.definition;
    if (steering && this.#turn?.inbox.deliver(ticket)) return;
    if (!steering && this.#running !== undefined && concurrentPrompts === "reject") {
      const data = { reason: "turn_in_progress" };
      return ticket.refused(
        new RequestError(-32064, "a turn is running: wait for its end or cancel it", data),
      );
    }
    this.addWork(ticket);
  }

  /** Waits in line whatever the agent does with prompts. */
  addWork(ticket: PromptTicket): void {
    this.#waiting.push(ticket);
    this.#running ??= this.#run();
  }

  /** A prompt that was withdrawn before its turn began. */
  withdraw(ticket: PromptTicket): boolean {
    if (this.#turn?.inbox.withdraw(ticket)) return true;
    const at = this.#waiting.indexOf(ticket);
    if (at >= 0) this.#waiting.splice(at, 1);
    return at >= 0;
  }

  /** Ends the turn and withdraws what waits; both are outcomes, never errors (A47). */
  cancel(): void {
    const waiting = [...(this.#turn?.inbox.close() ?? []), ...this.#waiting];
    this.#waiting = [];
    this.#turn?.cancel();
    for (const ticket of waiting) this.#session.link.withdrawn(ticket);
  }

  /** The handler does not heed its signal: its turn ends without it. */
  async abandon(): Promise<void> {
    if (this.#turn !== undefined && this.#current !== undefined)
      await abandonTurn(this.#session, this.#turn, this.#current);
  }

  async #run(): Promise<void> {
    for (let ticket = this.#waiting.shift(); ticket !== undefined; ticket = this.#waiting.shift()) {
      this.#current = ticket;
      const left = await runTurn(this.#session, ticket, (turn) => this.#started(turn));
      this.#turn = undefined;
      this.#current = undefined;
      // prompts that nobody took from the inbox are turns of their own, before later ones
      this.#waiting.unshift(...left);
    }
    this.#running = undefined;
  }

  #started(turn: Turn): void {
    this.#turn = turn;
    if (!this.#session.link.definition.steering) return;
    // those who wait in line are there to be taken, in the order in which they came
    for (const waiting of this.#waiting.splice(0)) {
      if (waiting.run !== undefined || !turn.inbox.deliver(waiting)) this.#waiting.push(waiting);
    }
  }
}
