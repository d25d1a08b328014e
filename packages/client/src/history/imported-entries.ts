// Compares the replay of a session with its recorded entries, and finds the entries that come after the recorded ones.

import { type Entry, type SessionUpdate, textOf } from "@parley/acp";
import type { EntryBody } from "@parley/acp/store";

/** A message or a tool call, with the entries that make it up. */
interface Part {
  readonly kind: "user" | "text" | "tool" | "other";
  readonly id: string;
  /** The text without white space, because agents replay it with other white space. */
  text: string;
  bodies: EntryBody[];
}

/** How many of the last messages of the user are compared. */
const comparedPrompts = 3;

/**
 * The entries to append: what the agent did while nobody recorded it, behind an entry of kind "imported". Empty where the
 * replay has nothing new, or where it is not the same conversation. `recent` are the last recorded entries, newest first.
 */
export async function importedEntries(
  replayed: readonly EntryBody[],
  recent: AsyncIterable<Entry>,
): Promise<EntryBody[]> {
  if (replayed.length === 0) return [];
  const { entries, isWhole } = await lastTurns(recent);
  const imported = beyond(partsOf(replayed), partsOf(entries), isWhole, hasOpenTurn(entries));
  return imported.length === 0 ? [] : [{ kind: "imported", count: imported.length }, ...imported];
}

/** The entries since one of the last messages of the user, oldest first. */
async function lastTurns(recent: AsyncIterable<Entry>): Promise<{ entries: EntryBody[]; isWhole: boolean }> {
  const entries: EntryBody[] = [];
  let prompts = 0;
  for await (const entry of recent) {
    entries.push(entry);
    if (isUser(entry) && ++prompts === comparedPrompts) return { entries: entries.reverse(), isWhole: false };
  }
  return { entries: entries.reverse(), isWhole: true };
}

/** Whether the end of the last turn was not recorded. One that was interrupted by a crash may have gone on at its agent. */
function hasOpenTurn(entries: readonly EntryBody[]): boolean {
  const last = entries.findLastIndex(isUser);
  return !entries
    .slice(last)
    .some((body) => body.kind === "result" && body.result.stopReason !== "_interrupted");
}

function beyond(replayed: Part[], recorded: Part[], isWhole: boolean, isOpen: boolean): EntryBody[] {
  const prompts = recorded.filter(({ kind }) => kind === "user");
  if (prompts.length === 0) return isWhole ? bodiesOf(replayed) : [];
  // the agent may not have got the last prompts
  for (let missing = 0; missing < prompts.length; missing++) {
    const known = prompts.slice(0, prompts.length - missing).map(({ text }) => text);
    const at = lastMatch(replayed, known);
    if (at < 0) continue;
    const after = replayed.slice(at + 1);
    const next = after.findIndex(({ kind }) => kind === "user");
    const turn = next < 0 ? after : after.slice(0, next);
    const later = next < 0 ? [] : after.slice(next);
    const last = recorded.findLastIndex(({ kind }) => kind === "user");
    const rest = missing === 0 && isOpen ? restOfTurn(turn, recorded.slice(last + 1)) : [];
    return [...rest, ...bodiesOf(later)];
  }
  return [];
}

/** The place in the replay of the last of these messages of the user, after the others; -1 if they are not there. */
function lastMatch(replayed: readonly Part[], known: readonly string[]): number {
  const users = replayed.flatMap(({ kind, text }, at) => (kind === "user" ? [{ text, at }] : []));
  for (let end = users.length; end >= known.length; end--) {
    const candidates = users.slice(end - known.length, end);
    if (candidates.every(({ text }, n) => text === known[n])) return candidates.at(-1)?.at ?? -1;
  }
  return -1;
}

/** The entries of a turn after its last recorded part, with the rest of a text that was cut off. */
function restOfTurn(turn: readonly Part[], recorded: readonly Part[]): EntryBody[] {
  const isKnown = (part: Part) => recorded.some((other) => isSame(part, other));
  const last = turn.findLastIndex(isKnown);
  // a turn that is replayed in other words is not recorded twice
  if (last < 0) return recorded.some(({ kind }) => kind !== "other") ? [] : bodiesOf(turn);
  const [cut] = turn.slice(last);
  const known = cut && recorded.findLast((other) => isSame(cut, other));
  return [...(cut && known ? restOfText(cut, known) : []), ...bodiesOf(turn.slice(last + 1))];
}

function isSame(part: Part, other: Part): boolean {
  if (part.kind !== other.kind || part.kind === "other") return false;
  if (part.kind === "tool") return part.id === other.id;
  return other.text !== "" && part.text.startsWith(other.text);
}

function restOfText({ bodies: [body], text }: Part, known: Part): EntryBody[] {
  if (known.kind !== "text" || known.text.length >= text.length) return [];
  const said = body?.kind === "update" ? textIn(body.update) : "";
  let seen = 0;
  let at = 0;
  while (seen < known.text.length) if (!/\s/.test(said[at++] ?? "")) seen++;
  const rest = { type: "text" as const, text: said.slice(at) };
  if (body?.kind !== "update" || !("messageId" in body.update)) return [];
  const { sessionUpdate, messageId } = body.update;
  const tag = sessionUpdate.startsWith("agent_thought") ? "agent_thought_chunk" : "agent_message_chunk";
  // as: every update of a text has the id of its message
  const update = { sessionUpdate: tag, messageId: messageId as string, content: rest } as const;
  return [{ kind: "update", update }];
}

function bodiesOf(parts: readonly Part[]): EntryBody[] {
  return parts.flatMap(({ bodies }) => bodies);
}

/** Joins the pieces of a message, and the updates of a tool call that follow each other. */
function partsOf(bodies: readonly EntryBody[]): Part[] {
  const parts: Part[] = [];
  for (const body of bodies) {
    const part = partOf(body);
    const before = parts.at(-1);
    const joined =
      before?.kind === part.kind && before.id === part.id && part.id !== ""
        ? joinedBody(before, body)
        : undefined;
    if (before === undefined || joined === undefined) parts.push(part);
    else {
      before.bodies = [joined];
      before.text += part.text;
    }
  }
  return parts;
}

function joinedBody({ bodies: [first] }: Part, next: EntryBody): EntryBody | undefined {
  if (first?.kind !== "update" || next.kind !== "update") return undefined;
  const [one, other] = [first.update, next.update];
  if (one.sessionUpdate !== other.sessionUpdate) return undefined;
  if (one.sessionUpdate === "tool_call_update")
    return { kind: "update", update: { ...one, ...other } as SessionUpdate };
  if (!("content" in one) || !("content" in other)) return undefined;
  const [text, more] = [one.content, other.content];
  if (!isPlain(text) || !isPlain(more)) return undefined;
  // as: the same update with a longer text
  return {
    kind: "update",
    update: { ...one, content: { ...text, text: text.text + more.text } } as SessionUpdate,
  };
}

function isPlain(content: unknown): content is { readonly type: "text"; readonly text: string } {
  const { type, text } = (content ?? {}) as { readonly type?: unknown; readonly text?: unknown };
  return type === "text" && typeof text === "string";
}

function isUser(body: EntryBody): boolean {
  return partOf(body).kind === "user";
}

function partOf(body: EntryBody): Part {
  const bodies = [body];
  if (body.kind === "prompt" || body.kind === "inbox") {
    const text = body.prompt.map((block) => textOf(block)).join("");
    return { kind: "user", id: body.messageId, text: bare(text), bodies };
  }
  if (body.kind !== "update") return { kind: "other", id: "", text: "", bodies };
  const { update } = body;
  switch (update.sessionUpdate) {
    case "user_message":
    case "user_message_chunk":
      return { kind: "user", id: update.messageId, text: bare(textIn(update)), bodies };
    case "agent_message":
    case "agent_message_chunk":
    case "agent_thought":
    case "agent_thought_chunk":
      return { kind: "text", id: update.messageId, text: bare(textIn(update)), bodies };
    case "tool_call_update":
      return { kind: "tool", id: update.toolCallId, text: "", bodies };
    default:
      return { kind: "other", id: "", text: "", bodies };
  }
}

function textIn(update: SessionUpdate): string {
  if (!("content" in update)) return "";
  const { content } = update;
  // as: the content of a message is one block or a list of them
  const blocks = [content ?? []].flat() as Parameters<typeof textOf>[0][];
  return blocks.map((block) => textOf(block)).join("");
}

function bare(text: string): string {
  return text.replaceAll(/\s+/g, "");
}
