// What a host itself says among the entries of a session.

import type { Entry } from "@parley/acp";
import { noticeEntry, turnEntry } from "@parley/acp/extensions";
import type { ConversationEvent } from "./conversation.ts";
import type { Notice, TurnSummary } from "./session-link.ts";

/**
 * What an entry says in the name of the host: a sentence, or how a turn ended. Undefined: it is an entry of the agent.
 *
 * @example
 * import { hostWords, type SessionLink } from "@parley/client/conversation";
 *
 * export function printNotices(link: SessionLink): void {
 *   link.tail(undefined, (event) => {
 *     const words = event.kind === "entries" ? event.entries.map(hostWords) : [];
 *     for (const each of words) if (each?.kind === "notice") console.log(each.notice.text);
 *   });
 * }
 */
export function hostWords(entry: Entry): Extract<ConversationEvent, { kind: "notice" | "turn" }> | undefined {
  if (entry.kind !== "extension") return undefined;
  // as: only a host writes these entries
  if (entry.name === noticeEntry) return { kind: "notice", notice: entry.value as unknown as Notice };
  if (entry.name === turnEntry) return { kind: "turn", summary: entry.value as unknown as TurnSummary };
  return undefined;
}
