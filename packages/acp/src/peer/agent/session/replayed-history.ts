// The updates that show a stored history again: whole messages, with the ids that they have.

import type { ContentBlock } from "../../../model/content.ts";
import type { Entry } from "../../../model/entry.ts";
import type { SessionUpdate } from "../../../model/update.ts";
import { WholeFirst } from "../../../model/whole-first.ts";
import type { StoredHistory } from "./guarded-store.ts";

type Message = Extract<SessionUpdate, { sessionUpdate: "user_message" | "agent_message" | "agent_thought" }>;

/** An update to show again, and its JSON where the store has it. */
export interface Replayed {
  readonly update: SessionUpdate;
  readonly text: string | undefined;
}

/** The updates for the entries before `endSeq`, page by page. */
export async function* replayedHistory(
  history: Pick<StoredHistory, "pages" | "read">,
  endSeq: number,
): AsyncGenerator<readonly Replayed[], void> {
  const joined = new JoinedMessages();
  const wholes = new WholeFirst();
  /** Of the updates that are shown as they are stored. */
  const texts = new Map<SessionUpdate, string>();
  const replayed = (update: SessionUpdate): Replayed => ({ update, text: texts.get(update) });
  for await (const page of history.pages()) {
    const updates: Replayed[] = [];
    for (const stored of page) {
      if (stored.seq >= endSeq) break;
      const update = updateOf(history.read(stored));
      if (update === undefined) continue;
      if (stored.kind === "update") texts.set(update, stored.text);
      for (const each of wholes.take(update)) updates.push(...joined.take(each).map(replayed));
    }
    yield updates;
    texts.clear();
    if ((page.at(-1)?.seq ?? 0) >= endSeq) break;
  }
  yield joined.end().map(replayed);
}

/** The same for updates of which all are at hand. */
export function replayedUpdates(updates: readonly SessionUpdate[]): readonly SessionUpdate[] {
  const joined = new JoinedMessages();
  const wholes = new WholeFirst();
  const shown = updates.flatMap((update) => wholes.take(update).flatMap((each) => joined.take(each)));
  return [...shown, ...joined.end()];
}

/** The update that shows one entry: a message or what was sent. Options and commands are part of the answer. */
function updateOf(entry: Entry): SessionUpdate | undefined {
  if (entry.kind === "prompt") {
    const { messageId, prompt } = entry;
    return { sessionUpdate: "user_message", messageId, content: [...prompt] };
  }
  if (entry.kind !== "update") return undefined;
  const { sessionUpdate } = entry.update;
  const isState = sessionUpdate === "config_option_update" || sessionUpdate === "available_commands_update";
  return isState ? undefined : entry.update;
}

/** Joins a message with the pieces that follow it: the store has a long one in several entries. */
class JoinedMessages {
  #message: Message | undefined;
  #content: ContentBlock[] = [];

  /** The updates that are complete now. */
  take(update: SessionUpdate): readonly SessionUpdate[] {
    if (this.#message !== undefined && isPlainPieceOf(this.#message, update)) {
      append(this.#content, update.content);
      return [];
    }
    const before = this.end();
    if (!isMessage(update) || update.content == null) return [...before, update];
    this.#message = update;
    this.#content = [...update.content];
    return before;
  }

  /** The message that more could have followed. */
  end(): readonly SessionUpdate[] {
    const message = this.#message;
    this.#message = undefined;
    return message === undefined ? [] : [{ ...message, content: this.#content }];
  }
}

function isMessage(update: SessionUpdate): update is Message {
  const { sessionUpdate } = update;
  return (
    sessionUpdate === "user_message" || sessionUpdate === "agent_message" || sessionUpdate === "agent_thought"
  );
}

function isPlainPieceOf(
  { sessionUpdate, messageId }: Message,
  update: SessionUpdate,
): update is Extract<SessionUpdate, { sessionUpdate: "agent_message_chunk" }> {
  return (
    update.sessionUpdate === `${sessionUpdate}_chunk` &&
    "messageId" in update &&
    update.messageId === messageId &&
    // the custom data of a piece is not that of its message
    Object.keys(update).length === 3
  );
}

function append(content: ContentBlock[], block: ContentBlock): void {
  const last = content.at(-1);
  if (last?.type === "text" && block.type === "text" && isBare(last) && isBare(block))
    content[content.length - 1] = { ...last, text: last.text + block.text };
  else content.push(block);
}

/** Nothing but a type and a text. */
function isBare(block: object): boolean {
  return Object.keys(block).length === 2;
}
