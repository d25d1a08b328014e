// One-use tickets, for WebSockets of browsers, which cannot send headers.

import { digestOf, randomToken } from "./token.ts";

/** How long a ticket can be used. */
export const ticketMs = 30_000;
/** More at a time are refused; each is used at once or never. */
const maxTickets = 1_000;

export class Tickets {
  readonly #now: () => number;
  /** Until when each can be used, the oldest first, by its digest: how long a search takes tells nothing about a ticket. */
  readonly #tickets = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Undefined when too many wait to be used. */
  issue(): string | undefined {
    this.#forget();
    if (this.#tickets.size >= maxTickets) return undefined;
    const ticket = randomToken();
    this.#tickets.set(keyOf(ticket), this.#now() + ticketMs);
    return ticket;
  }

  /** True once for each ticket. */
  use(given: string): boolean {
    this.#forget();
    return this.#tickets.delete(keyOf(given));
  }

  #forget(): void {
    const now = this.#now();
    for (const [key, until] of this.#tickets) {
      if (until > now) break;
      this.#tickets.delete(key);
    }
  }
}

function keyOf(ticket: string): string {
  return digestOf(ticket).toString("base64");
}
