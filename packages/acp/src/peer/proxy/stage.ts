// One place of a chain, between what is before it and what is behind it.

import { type Port, refusing } from "../../forward/port.ts";
import { errorCodes } from "../../jsonrpc/error-kinds.ts";
import { generationOfInitialize, generationOfSuccessor } from "./generations.ts";

export interface Stage {
  /** How it is called in errors. */
  readonly name: string;
  /** Whether it decides what is allowed, as far as it has said so. */
  readonly isPolicy: boolean;
  /** Takes what comes from the client's side. */
  readonly fromClient: Port;
  /** Takes what comes from the agent's side. */
  readonly fromAgent: Port;
  /** Where it sends. Called once, before anything passes. */
  connect(to: { readonly client: Port; readonly agent: Port }): void;
  close(): Promise<void>;
}

/** What a chain is for its stages. */
export interface StageHost {
  /** The chain cannot go on: it ends, and its peers learn why. */
  failed(reason: string): void;
}

/** A port that sends to whatever the function returns at that time. */
export function portTo(current: () => Port): Port {
  return {
    notify: (call) => current().notify(call),
    request: (call, taker) => current().request(call, taker),
    unread: () => current().unread(),
  };
}

/** What is for conductors and proxies must not reach a client, or a proxy as if it came from its conductor. */
export function noChainWords(client: Port): Port {
  return {
    notify: (call) => (isOfChains(call.method) ? undefined : client.notify(call)),
    unread: () => client.unread(),
    request: (call, taker) => {
      const refused = refusing({
        code: errorCodes.invalid_request,
        message: `${call.method} is not for the client's side of a chain`,
        data: { reason: "wrong_role" },
      });
      return (isOfChains(call.method) ? refused : client).request(call, taker);
    },
  };
}

function isOfChains(method: string): boolean {
  return (
    method === "initialize" ||
    generationOfInitialize(method) !== undefined ||
    generationOfSuccessor(method) !== undefined
  );
}
