// One-use tickets, for WebSockets of browsers, which cannot send headers.

import { randomToken, tokenCheck } from "./token.ts";

/** How long a ticket can be used. */
export const ticketMs = 30_000;
/** More at a time are refused; each is used at once or never. */
const maxTickets = 1_000;

interface Ticket {
  readonly isIt: (given: string) => boolean;
  readonly until: number;
}

export class Tickets {
  readonly #now: () => number;
  #tickets: Ticket[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Undefined when too many wait to be used. */
  issue(): string | undefined {
    this.#forget();
    if (this.#tickets.length >= maxTickets) return undefined;
    const ticket = randomToken();
    this.#tickets.push({ isIt: tokenCheck(ticket), until: this.#now() + ticketMs });
    return ticket;
  }

  /** True once for each ticket. */
  use(given: string): boolean {
    this.#forget();
    const found = this.#tickets.filter((ticket) => ticket.isIt(given));
    this.#tickets = this.#tickets.filter((ticket) => !found.includes(ticket));
    return found.length > 0;
  }

  #forget(): void {
    const now = this.#now();
    this.#tickets = this.#tickets.filter(({ until }) => until > now);
  }
}
