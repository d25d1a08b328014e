// The names of the options of calls to an agent.

import { checkOptions, type Keys } from "../../base/known-options.ts";
import type { SentHook } from "../../jsonrpc/pending-requests.ts";
import type {
  CallOptions,
  LoginOptions,
  ReopenOptions,
  SessionOptions,
  SessionQueryOptions,
} from "./client-connection.ts";
import type { MetaOptions, PromptOptions } from "./session/client-session.ts";

export const metaKeys: Keys<MetaOptions> = { _meta: true };
export const promptKeys: Keys<PromptOptions> = { ...metaKeys, signal: true };
export const callKeys: Keys<CallOptions> = { ...metaKeys, signal: true };
export const loginKeys: Keys<LoginOptions> = { ...callKeys, credentials: true };
export const queryKeys: Keys<SessionQueryOptions> = { ...callKeys, cwd: true, archived: true, cursor: true };
export const sessionKeys: Keys<SessionOptions> = {
  cwd: true,
  additionalDirectories: true,
  mcpServers: true,
  tools: true,
  systemPrompt: true,
  known: true,
  onUpdate: true,
  onEntry: true,
  ...callKeys,
};
export const reopenKeys: Keys<ReopenOptions> = { ...sessionKeys, takeover: true };

/** Throws a TypeError for an option that does not exist. Those that a relay and this library add are no options. */
export function checkCall(
  method: string,
  { sent, ...options }: object & SentHook,
  known: Readonly<Record<string, true>> = callKeys,
): void {
  checkOptions(method, options, known);
}
