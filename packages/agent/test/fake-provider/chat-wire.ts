// Builds streamed Chat Completions answers as OpenAI, Ollama, vLLM and LM Studio send them.

import { sse } from "./fake-provider.ts";

export interface ChatCall {
  readonly id: string;
  readonly name: string;
  readonly json: readonly string[];
}

export interface ChatAnswer {
  readonly thinking?: readonly string[];
  readonly text?: readonly string[];
  readonly refusal?: readonly string[];
  readonly calls?: readonly ChatCall[];
  readonly stop?: string | null;
  readonly usage?: Readonly<Record<string, unknown>> | null;
}

export function chatEvents(answer: ChatAnswer): string[] {
  const { thinking = [], text = [], refusal = [], calls = [] } = answer;
  const stop = answer.stop === undefined ? (calls.length > 0 ? "tool_calls" : "stop") : answer.stop;
  const usage =
    answer.usage === undefined ? { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } : answer.usage;
  return [
    chunk({ role: "assistant", content: "" }),
    ...thinking.map((piece) => chunk({ reasoning_content: piece })),
    ...text.map((content) => chunk({ content })),
    ...refusal.map((piece) => chunk({ refusal: piece })),
    ...callChunks(calls),
    ...(stop === null ? [] : [chunk({}, stop)]),
    ...(usage === null ? [] : [sse({ ...base, choices: [], usage })]),
    sse("[DONE]"),
  ];
}

/** The first piece of every call, then the pieces of all of them in turn. */
function callChunks(calls: readonly ChatCall[]): string[] {
  const starts = calls.map(({ id, name, json }, index) =>
    chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: json[0] ?? "" } }] }),
  );
  const longest = Math.max(0, ...calls.map(({ json }) => json.length));
  const rest = Array.from({ length: longest }, (_, piece) =>
    calls.flatMap(({ json }, index) =>
      piece === 0 || json[piece] === undefined
        ? []
        : [chunk({ tool_calls: [{ index, function: { arguments: json[piece] } }] })],
    ),
  );
  return [...starts, ...rest.flat()];
}

const base = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_790_000_000, model: "fake" };

export function chunk(delta: object, finish: string | null = null): string {
  return sse({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] });
}

export function openaiError(message: string, type: string, code: string | null = null): object {
  return { error: { message, type, param: null, code } };
}

interface WireMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly arguments: string } }[];
}

/** What the API would answer with 400: the first thing that is wrong with a request. */
export function chatFault(body: {
  readonly messages: readonly WireMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}): string | undefined {
  const badName = body.tools?.find((tool) => !/^[a-zA-Z0-9_-]{1,64}$/.test(tool.function.name));
  if (badName) return `Invalid 'tools[0].function.name': ${badName.function.name}`;
  for (const [index, message] of body.messages.entries()) {
    const calls = message.tool_calls ?? [];
    const answers = body.messages.slice(index + 1, index + 1 + calls.length);
    if (calls.some(({ id }) => !answers.some((answer) => answer.tool_call_id === id))) {
      return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
    }
    if (message.role === "tool" && typeof message.content !== "string")
      return "tool content must be a string";
  }
  return undefined;
}
