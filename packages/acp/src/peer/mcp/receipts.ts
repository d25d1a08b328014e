// Tells the app that the agent uses a server that it was given, or that it does not.

import { backgroundDeadline, type Deadline } from "../../base/deadline.ts";
import { isObject, optional } from "../../base/objects.ts";

/**
 * Whether an agent uses a server that a session gave it. An agent may take a server without a word, and never connect to
 * it.
 */
export interface McpReceipt {
  /** "connected": the agent has listed or called the server. "silent": it has not within `mcpReceiptMs`. */
  readonly state: "connected" | "silent";
  /** The name of the server. */
  readonly server: string;
  /** The session that the server was given to. */
  readonly sessionId: string;
  /** How many tools the agent got when it listed them. Absent if it did something else first. */
  readonly tools?: number;
  /** How long that took since the session was asked for, in milliseconds. */
  readonly afterMs: number;
}

/** The first use of one server. What came before the session had an id is told when it has one. */
export class ServerReceipt {
  readonly #server: string;
  readonly #tell: (receipt: McpReceipt) => void;
  readonly #start = performance.now();
  #sessionId: string | undefined;
  #silence: Deadline;
  #isUsed = false;
  #first: { readonly afterMs: number; readonly tools?: number } | undefined;

  constructor(server: string, tell: (receipt: McpReceipt) => void) {
    this.#server = server;
    this.#tell = tell;
  }

  used(method: string, answer: Promise<unknown>): void {
    // a look at the server is no use of it
    if (this.#isUsed || !/\/(?:list|call|read|get)$/.test(method)) return;
    this.#isUsed = true;
    clearTimeout(this.#silence);
    if (method !== "tools/list") return this.#connected();
    answer.then(
      (result) => this.#connected(countOf(result)),
      () => this.#connected(),
    );
  }

  /** The session is open: from now on the agent can be expected to use the server. */
  opened(sessionId: string, receiptMs: number): void {
    this.#sessionId = sessionId;
    if (this.#first !== undefined) this.#report("connected", this.#first);
    else if (!this.#isUsed)
      this.#silence = backgroundDeadline(receiptMs, () => this.#report("silent", { afterMs: receiptMs }));
  }

  close(): void {
    clearTimeout(this.#silence);
    this.#sessionId = undefined;
    this.#isUsed = true;
  }

  #connected(tools?: number): void {
    this.#first = { afterMs: Math.round(performance.now() - this.#start), ...optional({ tools }) };
    this.#report("connected", this.#first);
  }

  #report(state: McpReceipt["state"], facts: Pick<McpReceipt, "tools" | "afterMs">): void {
    const sessionId = this.#sessionId;
    if (sessionId !== undefined) this.#tell({ state, server: this.#server, sessionId, ...facts });
  }
}

function countOf(result: unknown): number | undefined {
  return isObject(result) && Array.isArray(result["tools"]) ? result["tools"].length : undefined;
}
