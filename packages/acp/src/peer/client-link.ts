// What a session needs of its connection, and no more.

import type { Log } from "../jsonrpc/log.ts";
import type { ContentBlock, Meta, SessionConfigOption } from "../model/content.ts";
import type { ClientSession } from "./client-session.ts";

export interface ClientLink {
  readonly log: Log;
  /** False once the connection ends: nothing can be sent, and all that waits will fail with the reason. */
  readonly isOpen: boolean;
  /** Whether the agent orders several prompts of one session by itself. */
  readonly pipelinesPrompts: boolean;
  notify(method: string, params: object): Promise<void> | undefined;
  /** `answered` is called when the answer is dispatched, before anything later. Rejects when there is none. */
  prompt(
    sessionId: string,
    message: { readonly content: readonly ContentBlock[]; readonly meta: Meta | undefined },
    signal: AbortSignal,
    answered: (result: object) => void,
  ): Promise<void>;
  /** `answered` as above, with the list that the answer has. */
  setOption(
    sessionId: string,
    option: SessionConfigOption,
    value: string | boolean,
    answered: (options: readonly SessionConfigOption[] | undefined) => void,
  ): Promise<void>;
  closeSession(session: ClientSession): Promise<void>;
}
