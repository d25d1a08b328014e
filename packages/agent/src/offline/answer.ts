// Produces one answer of the offline model: replays the script of the user's last request with the outcomes so far.

import { summaryRequest } from "../model/agent-requests.ts";
import type { ModelEvent, ModelMessage, ModelRequest } from "../model/model.ts";
import { plainSummary } from "../model/summary.ts";
import { tokensOfMessages, tokensOfText } from "../model/tokens.ts";
import { requestScript } from "./request-script.ts";
import type { Step } from "./script.ts";

export function* answer(request: ModelRequest): Generator<ModelEvent> {
  const { messages, tools } = request;
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const text = requestText(messages[asked]);
  if (text.startsWith(summaryRequest)) return yield* speak(plainSummary(messages.slice(0, asked)), request);
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
      return yield* speak("What I may do has changed while I worked. Tell me again what to do.", request);
    }
    next = script.next(follower.outcomes);
  }
  if (next.done) return yield* speak(next.value, request);
  yield* act(next.value, work.length, request);
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

function* act(
  { think, say, calls: wanted }: Step,
  step: number,
  request: ModelRequest,
): Generator<ModelEvent> {
  if (think !== undefined) yield* inPieces("thinking", think);
  if (say !== undefined) yield* inPieces("text", say);
  for (const [i, { name, input }] of wanted.entries()) {
    yield { type: "tool_call", id: `offline-${request.messages.length}-${step}-${i}`, name, input };
  }
  yield end("tool_calls", request, JSON.stringify(wanted));
}

function* speak(text: string, request: ModelRequest): Generator<ModelEvent> {
  yield* inPieces("text", text);
  yield end("stop", request, text);
}

/** Streams a few words at a time, as other models do. */
function* inPieces(type: "text" | "thinking", text: string): Generator<ModelEvent> {
  for (const [piece] of text.matchAll(/(?:\S+\s*|\s+){1,8}/g)) yield { type, text: piece };
}

function end(cause: "stop" | "tool_calls", { system, messages }: ModelRequest, said: string): ModelEvent {
  const input = tokensOfText(system) + tokensOfMessages(messages);
  return { type: "end", cause, usage: { input, output: tokensOfText(said) } };
}
