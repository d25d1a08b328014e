// Shortens attachments that do not fit the model's context window, and tells the user; never the user's own text.

import type { Model, ModelMessage } from "../model/model.ts";
import { charactersPerToken } from "../model/tokens.ts";
import type { CodingTurn } from "./session-state.ts";
import { tell } from "./tell.ts";

interface Shortened {
  readonly uri: string;
  readonly from: number;
  readonly to: number;
}

const attached = /^<resource uri=("(?:[^"\\]|\\.)*")>\n/;

/** `part` is the fraction of the context window that attachments may take. */
export async function shortenAttachments(
  { turn, model }: { readonly turn: CodingTurn; readonly model: Model },
  part: number,
): Promise<void> {
  const { data: state } = turn.session;
  const budget = Math.floor(model.facts.contextWindow * charactersPerToken * part);
  const shortened: Shortened[] = [];
  const isChanged = state.transcript.changeRequest((message) => fitted(message, budget, shortened));
  if (!isChanged) return;
  state.counted = undefined;
  for (const { uri, from, to } of shortened) {
    const note = `${uri} is too long for the model: it gets the beginning and the end, ${size(to)} of ${size(from)}.`;
    await tell(turn, note);
  }
}

/** Returns the message itself if nothing is too long. */
function fitted(message: UserMessage, budget: number, shortened: Shortened[]): UserMessage {
  const long = message.content.filter((part) => part.type === "text" && attached.test(part.text));
  const share = Math.floor(budget / Math.max(1, long.length));
  if (!long.some((part) => part.type === "text" && part.text.length > share)) return message;
  const content = message.content.map((part) => {
    if (part.type !== "text" || part.text.length <= share || !attached.test(part.text)) return part;
    shortened.push({ uri: uriOf(part.text), from: part.text.length, to: share });
    return { ...part, text: cut(part.text, share) };
  });
  return { ...message, content };
}

type UserMessage = Extract<ModelMessage, { role: "user" }>;

function uriOf(text: string): string {
  const [, quoted = '""'] = attached.exec(text) ?? [];
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}

/** Keeps more of the beginning than of the end, which closes the tag. */
function cut(text: string, length: number): string {
  const head = Math.floor((length * 2) / 3);
  const tail = length - head;
  const gone = text.length - length;
  const start = text.slice(0, head).toWellFormed();
  return `${start}\n[${gone} characters were left out here: the attachment is too long]\n${text.slice(-tail).toWellFormed()}`;
}

function size(characters: number): string {
  if (characters >= 1_000_000) return `${(characters / 1_000_000).toFixed(1)} MB`;
  return `${Math.max(1, Math.round(characters / 1_000))} KB`;
}
