// What a session needs of the client that opens it.

import type { Log } from "../../../jsonrpc/connection-options.ts";
import type { SessionUpdate } from "../../../model/update.ts";
import type { ClientSession } from "./client-session.ts";
import type { UnreadLimits } from "./unread-updates.ts";

export interface OpenSessionSettings {
  readonly log: Log;
  readonly unread: UnreadLimits;
  /** Whether updates are frozen before listeners see them. */
  readonly isStrict: boolean;
  /** Whether all that is known of open tool calls is kept. */
  readonly keepsToolCalls: boolean;
  /** Whether the agent says which options there are. */
  readonly listsOptions: boolean;
  /** Gets the updates that are not text, the prompts and the cancels of the user. */
  readonly policy: {
    observe(session: ClientSession, update: SessionUpdate): void;
    prompted(session: ClientSession): void;
    cancel(session: ClientSession): void;
  };
  /** Called when the session has been closed. */
  closed(sessionId: string): void;
}
