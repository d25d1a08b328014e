// Produces one answer of the offline model: replays the script of the user's last request with the outcomes so far.

import { summaryRequest } from "../model/agent-requests.ts";
import type { ModelEvent, ModelMessage, ModelRequest } from "../model/model.ts";
import { plainSummary } from "../model/summary.ts";
import { requestScript } from "./request-script.ts";
import type { Step } from "./script.ts";

export function* answer(request: ModelRequest): Generator<ModelEvent> {
  const { messages, tools } = request;
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const text = requestText(messages[asked]);
  if (text.startsWith(summaryRequest)) return yield* speak(plainSummary(messages.slice(0, asked)));
  const work = messages.slice(asked + 1);
  const names = new Set(tools.map(({ name }) => name));
  const beganPlanning =
    (!names.has("write") && names.has("read")) ||
    work.some((message) => calls(message).includes("switch_mode"));
  const script = requestScript(text, { has: (tool) => names.has(tool), beganPlanning });
  let next = script.next();
  for (const [i, message] of work.entries()) {
    const follower = work[i + 1];
    if (message.role !== "assistant" || follower?.role !== "tool") continue;
    // the mode was switched, or another model made the calls
    if (next.done || next.value.calls.map(({ name }) => name).join() !== calls(message).join()) {
      return yield* speak("What I may do has changed while I worked. Tell me again what to do.");
    }
    next = script.next(follower.outcomes);
  }
  if (next.done) return yield* speak(next.value);
  yield* act(next.value, work.length, messages.length);
}

function calls(message: ModelMessage): string[] {
  if (message.role !== "assistant") return [];
  return message.content.flatMap((part) => (part.type === "tool_call" ? [part.name] : []));
}

const leftOut = /^\[(?:image|audio|document)\b.* left out: /;

/** The user's text; "this" is replaced by the file that the prompt refers to. */
function requestText(message: ModelMessage | undefined): string {
  if (message?.role !== "user") return "";
  const texts = message.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const refers = /^\[The user refers to (\S+) /;
  const [link] = texts.flatMap((text) => refers.exec(text)?.[1] ?? []);
  const words =
    texts.find((text) => !refers.test(text) && !leftOut.test(text) && !text.startsWith("<resource ")) ?? "";
  return link === undefined
    ? words
    : words.replace(/\b(?:this(?: file)?|it|that file)\b/i, JSON.stringify(link));
}

function* act({ think, say, calls: wanted }: Step, step: number, messages: number): Generator<ModelEvent> {
  if (think !== undefined) yield* inPieces("thinking", think);
  if (say !== undefined) yield* inPieces("text", say);
  for (const [i, { name, input }] of wanted.entries()) {
    yield { type: "tool_call", id: `offline-${messages}-${step}-${i}`, name, input };
  }
  // no usage: fixed rules cost no tokens
  yield { type: "end", cause: "tool_calls", usage: undefined };
}

function* speak(text: string): Generator<ModelEvent> {
  yield* inPieces("text", text);
  yield { type: "end", cause: "stop", usage: undefined };
}

/** Streams a few words at a time, as other models do. */
function* inPieces(type: "text" | "thinking", text: string): Generator<ModelEvent> {
  for (const [piece] of text.matchAll(/(?:\S+\s*|\s+){1,8}/g)) yield { type, text: piece };
}
