// Builds streamed answers of OpenAI's Responses API.

import { sse } from "./fake-provider.ts";

export interface ResponsesAnswer {
  readonly thinking?: {
    readonly id: string;
    readonly paragraphs: readonly string[];
    readonly encrypted: string;
  };
  readonly text?: readonly string[];
  readonly phase?: string;
  readonly refusal?: string;
  readonly calls?: readonly {
    readonly id: string;
    readonly name: string;
    readonly json: readonly string[];
  }[];
  readonly incomplete?: string;
  readonly input?: { readonly tokens: number; readonly cached: number };
}

export function responsesEvents(answer: ResponsesAnswer): string[] {
  let sequence = 0;
  let output = 0;
  const event = (type: string, fields: object): string =>
    sse({ type, sequence_number: sequence++, ...fields }, type);
  const response = { id: "resp_1", created_at: 1_790_000_000, model: "fake", service_tier: "default" };
  const events = [
    event("response.created", { response: { ...response, status: "in_progress" } }),
    event("response.in_progress", { response: { ...response, status: "in_progress" } }),
  ];
  const item = (fields: object, body: (place: { output_index: number }) => string[], done: object): void => {
    const place = { output_index: output++ };
    events.push(event("response.output_item.added", { ...place, item: fields }));
    events.push(...body(place));
    events.push(event("response.output_item.done", { ...place, item: { ...fields, ...done } }));
  };

  const {
    thinking,
    text,
    phase,
    refusal,
    calls = [],
    incomplete,
    input = { tokens: 10, cached: 4 },
  } = answer;
  if (thinking !== undefined) {
    const { id, paragraphs, encrypted } = thinking;
    item(
      { type: "reasoning", id, summary: [] },
      (place) =>
        paragraphs.flatMap((delta, summary_index) => {
          const at = { ...place, item_id: id, summary_index };
          return [
            event("response.reasoning_summary_part.added", {
              ...at,
              part: { type: "summary_text", text: "" },
            }),
            event("response.reasoning_summary_text.delta", { ...at, delta }),
            event("response.reasoning_summary_part.done", {
              ...at,
              part: { type: "summary_text", text: delta },
            }),
          ];
        }),
      {
        encrypted_content: encrypted,
        summary: paragraphs.map((part) => ({ type: "summary_text", text: part })),
      },
    );
  }
  if (text !== undefined || refusal !== undefined) {
    const message = { type: "message", id: "msg_1", role: "assistant", content: [], ...(phase && { phase }) };
    item(
      message,
      (place) => {
        const at = { ...place, item_id: "msg_1", content_index: 0 };
        const pieces = (text ?? []).map((delta) => event("response.output_text.delta", { ...at, delta }));
        return refusal === undefined
          ? pieces
          : [...pieces, event("response.refusal.delta", { ...at, delta: refusal })];
      },
      { status: "completed" },
    );
  }
  for (const { id, name, json } of calls) {
    item(
      { type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: "" },
      (place) => {
        const at = { ...place, item_id: `fc_${id}` };
        return [
          ...json.map((delta) => event("response.function_call_arguments.delta", { ...at, delta })),
          event("response.function_call_arguments.done", { ...at, arguments: json.join("") }),
        ];
      },
      { arguments: json.join(""), status: "completed" },
    );
  }
  const usage = {
    input_tokens: input.tokens,
    input_tokens_details: { cached_tokens: input.cached },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: input.tokens + 5,
  };
  const ending = incomplete === undefined ? "completed" : "incomplete";
  const details = incomplete === undefined ? null : { reason: incomplete };
  events.push(
    event(`response.${ending}`, {
      response: { ...response, status: ending, incomplete_details: details, usage },
    }),
  );
  return events;
}
