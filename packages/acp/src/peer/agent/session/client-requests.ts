// Asks the client that has the session. When another client takes it over, the questions of the old one are given up.

import { ConnectionError } from "../../../jsonrpc/errors.ts";
import type { SessionSender } from "./session-sender.ts";

/** The request was sent to a client that has the session no more. */
export class ClientReplaced extends ConnectionError {
  constructor(what: string) {
    super("closed", `${what}: another client has taken the session over`);
  }
}

/** Sends a request by this sender. The signal aborts when nobody waits for its answer any more. */
type Send<Result> = (sender: SessionSender, signal: AbortSignal) => Promise<Result>;

export class ClientRequests {
  #sender: SessionSender;
  /** Gives each open request up. Most sessions ask nothing: they need no set. */
  #open: Set<() => void> | undefined;
  /** Resolves when the client has learned that it has the session: it would not know what it is asked about. */
  #ready: PromiseWithResolvers<void> | undefined;
  /** URL elicitations of this session whose flow is not over. */
  #urls: Set<string> | undefined;

  constructor(sender: SessionSender) {
    this.#sender = sender;
  }

  /** `what` names the request in the error for a client that was replaced. */
  async ask<Result>(what: string, send: Send<Result>, signal?: AbortSignal): Promise<Result> {
    while (this.#ready !== undefined) await this.#ready.promise;
    const replaced = new AbortController();
    const until = signal === undefined ? replaced.signal : AbortSignal.any([signal, replaced.signal]);
    const given = Promise.withResolvers<Result>();
    const giveUp = () => {
      given.reject(new ClientReplaced(`${what}: no answer`));
      replaced.abort();
    };
    this.#open ??= new Set();
    this.#open.add(giveUp);
    try {
      send(this.#sender, until).then(given.resolve, given.reject);
      return await given.promise;
    } finally {
      this.#open.delete(giveUp);
    }
  }

  /** Another client has the session. Flows that the user began there are over when the agent says so. */
  replace(sender: SessionSender): void {
    for (const elicitationId of this.#urls ?? []) {
      this.#sender.openUrls.delete(elicitationId);
      sender.openUrls.add(elicitationId);
    }
    this.#sender = sender;
    for (const giveUp of [...(this.#open ?? [])]) giveUp();
  }

  /** Asks nothing until the returned function is called. */
  hold(): () => void {
    const own = Promise.withResolvers<void>();
    const before = this.#ready;
    this.#ready = own;
    before?.resolve();
    return () => {
      if (this.#ready === own) this.release();
    };
  }

  /** Asks what was held. */
  release(): void {
    const held = this.#ready;
    this.#ready = undefined;
    held?.resolve();
  }

  /** False when the id is open on this connection: it would be unclear which flow is over. */
  beginUrl(elicitationId: string): boolean {
    const { openUrls } = this.#sender;
    if (openUrls.has(elicitationId)) return false;
    openUrls.add(elicitationId);
    this.#urls ??= new Set();
    this.#urls.add(elicitationId);
    return true;
  }

  /** False when it is not open. */
  endUrl(elicitationId: string): boolean {
    this.#urls?.delete(elicitationId);
    return this.#sender.openUrls.delete(elicitationId);
  }
}
