// A prompt of a session from the call until its end, and the settings of a session.

import type { Log } from "../../jsonrpc/connection-options.ts";
import type { ContentBlock, Meta } from "../../model/content.ts";
import type { ClientSession } from "./session/client-session.ts";
import type { PromptHandle } from "./session/prompt-handle.ts";
import type { UnreadLimits } from "./session/unread-updates.ts";

export interface OpenSessionSettings {
  readonly log: Log;
  readonly unread: UnreadLimits;
  /** Whether updates are frozen before listeners see them. */
  readonly isStrict: boolean;
  /** Whether all that is known of open tool calls is kept. */
  readonly keepsToolCalls: boolean;
  /** Called when the user has cancelled the work of the session. */
  cancelled(session: ClientSession): void;
  /** Called when the session has been closed. */
  closed(sessionId: string): void;
}

export interface OpenPrompt {
  readonly number: number;
  readonly handle: PromptHandle;
  readonly content: readonly ContentBlock[];
  readonly meta: Meta | undefined;
  readonly withdrawal: AbortController;
  readonly ended: PromiseWithResolvers<undefined>;
  isSent: boolean;
  /** Once it is part of the conversation. */
  messageId: string | undefined;
}
