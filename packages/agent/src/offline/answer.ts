// Produces one answer of the offline model: replays the script of the user's last request with the outcomes so far.

import { setTimeout as wait } from "node:timers/promises";
import { noteStart, summaryRequest } from "../model/agent-requests.ts";
import type { ModelEvent, ModelMessage, ModelRequest } from "../model/model.ts";
import { plainSummary } from "../model/summary.ts";
import type { Piece } from "./language.ts";
import type { OtherModels } from "./offline-model.ts";
import { advice, requestScript } from "./request-script.ts";
import { callResult } from "./script.ts";

export async function* answer(
  { messages, tools, signal }: ModelRequest,
  others: OtherModels,
): AsyncGenerator<ModelEvent> {
  const asked = messages.findLastIndex((message) => piecesOf(message).length > 0);
  const pieces = piecesOf(messages[asked]);
  if (typeof pieces[0] === "string" && pieces[0].startsWith(summaryRequest))
    return yield* speak(plainSummary(messages.slice(0, asked)));
  const work = messages.slice(asked + 1);
  const names = new Set(tools.map(({ name }) => name));
  const beganPlanning =
    (!names.has("write") && names.has("read")) || work.some((each) => calledBy(each).includes("switch_mode"));
  const script = requestScript(pieces, { has: (tool) => names.has(tool), beganPlanning });
  if ("unknown" in script) return yield* speak(await advice(script.unknown, others));
  const results = work.flatMap((message) => (message.role === "tool" ? message.outcomes : []));
  let next = script.next();
  // what was said and waited for before a result is over
  for (const outcome of results) {
    while (!next.done && next.value.type !== "call") next = script.next();
    // the mode was switched, or another model made the calls
    if (next.done || next.value.type !== "call" || next.value.name !== outcome.name)
      return yield* speak("The mode or the model changed while I was working. Tell me again what to do.");
    next = script.next(callResult(outcome));
  }
  for (; !next.done; next = script.next()) {
    const action = next.value;
    if (action.type === "call") {
      const id = `offline-${messages.length}-${work.length}`;
      yield { type: "tool_call", id, name: action.name, input: action.input };
      // no usage: fixed commands cost no tokens
      return yield { type: "end", cause: "tool_calls", usage: undefined };
    }
    if (action.type === "wait") await wait(action.seconds * 1000, undefined, { signal });
    else yield* inPieces(action.type, action.text);
  }
  yield* speak(next.value);
}

function calledBy(message: ModelMessage): string[] {
  if (message.role !== "assistant") return [];
  return message.content.flatMap((part) => (part.type === "tool_call" ? [part.name] : []));
}

/** What the user wrote and attached, without the agent's own notes. */
function piecesOf(message: ModelMessage | undefined): Piece[] {
  if (message?.role !== "user") return [];
  const texts = message.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const isNote = (text: string) =>
    text.startsWith(noteStart) || /^\[(?:image|audio|document|content)\b.* left out: /.test(text);
  return texts.filter((text) => !isNote(text)).flatMap(pieceOf);
}

/** How `prompt-content.ts` tells a model of a link and of an embedded file. */
const attached = /^(?:\[The user refers to (?<link>\S+) |<resource uri="(?<embedded>[^"]*)">\n)/;

function pieceOf(text: string): Piece[] {
  const { link, embedded } = attached.exec(text)?.groups ?? {};
  const uri = link ?? embedded;
  if (uri === undefined) return [text];
  // a file of this machine
  if (!uri.startsWith("file:///") || !URL.canParse(uri)) return [];
  const url = new URL(uri);
  const [, from, to] = /^#L(\d+)(?:[:-]L?(\d+))?$/.exec(url.hash) ?? [];
  const lines = from === undefined ? "" : to === undefined ? `:${from}` : `:${from}-${to}`;
  return [{ attached: `${decoded(url.pathname)}${lines}` }];
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // a percent sign that was not encoded
    return path;
  }
}

function* speak(text: string): Generator<ModelEvent> {
  yield* inPieces("text", text);
  yield { type: "end", cause: "stop", usage: undefined };
}

/** Streams a few words at a time, as other models do. */
function* inPieces(type: "text" | "thinking", text: string): Generator<ModelEvent> {
  for (const [piece] of text.matchAll(/(?:\S+\s*|\s+){1,8}/g)) yield { type, text: piece };
}
