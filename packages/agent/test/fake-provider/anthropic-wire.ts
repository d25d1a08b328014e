// Builds streamed answers and errors of Anthropic's Messages API.

import { sse } from "./fake-provider.ts";

export type AnthropicBlock =
  | { readonly type: "text"; readonly pieces: readonly string[] }
  | { readonly type: "thinking"; readonly pieces: readonly string[]; readonly signature: string }
  | { readonly type: "redacted"; readonly data: string }
  | { readonly type: "tool"; readonly id: string; readonly name: string; readonly json: readonly string[] };

export interface AnthropicAnswer {
  readonly blocks: readonly AnthropicBlock[];
  readonly stop?: string;
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly startUsage?: Readonly<Record<string, unknown>>;
}

export function anthropicEvents({ blocks, stop, usage, startUsage }: AnthropicAnswer): string[] {
  const hasCalls = blocks.some(({ type }) => type === "tool");
  return [
    named({
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-fake",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 10, output_tokens: 1, ...startUsage },
      },
    }),
    named({ type: "ping" }),
    ...blocks.flatMap(blockEvents),
    named({
      type: "message_delta",
      delta: { stop_reason: stop ?? (hasCalls ? "tool_use" : "end_turn"), stop_sequence: null },
      usage: { output_tokens: 5, ...usage },
    }),
    named({ type: "message_stop" }),
  ];
}

function blockEvents(block: AnthropicBlock, index: number): string[] {
  return [
    named({ type: "content_block_start", index, content_block: startOf(block) }),
    ...deltasOf(block).map((delta) => named({ type: "content_block_delta", index, delta })),
    named({ type: "content_block_stop", index }),
  ];
}

function startOf(block: AnthropicBlock): object {
  switch (block.type) {
    case "text":
      return { type: "text", text: "" };
    case "thinking":
      return { type: "thinking", thinking: "", signature: "" };
    case "redacted":
      return { type: "redacted_thinking", data: block.data };
    case "tool":
      return { type: "tool_use", id: block.id, name: block.name, input: {} };
  }
}

function deltasOf(block: AnthropicBlock): object[] {
  switch (block.type) {
    case "text":
      return block.pieces.map((text) => ({ type: "text_delta", text }));
    case "thinking":
      return [
        ...block.pieces.map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: block.signature },
      ];
    case "redacted":
      return [];
    case "tool":
      return block.json.map((partial_json) => ({ type: "input_json_delta", partial_json }));
  }
}

export function anthropicError(
  type: string,
  message: string,
): { readonly type: string; readonly [field: string]: unknown } {
  return { type: "error", error: { type, message }, request_id: "req_011" };
}

export function anthropicErrorEvent(type: string, message: string): string {
  return named(anthropicError(type, message));
}

function named(event: { readonly type: string; readonly [field: string]: unknown }): string {
  return sse(event, event.type);
}

export interface WireMessage {
  readonly role: string;
  readonly content: string | readonly { readonly type: string; readonly [field: string]: unknown }[];
}

/** What the API would answer with 400: the first thing that is wrong with a request. */
export function anthropicFault(body: {
  readonly messages: readonly WireMessage[];
  readonly max_tokens?: unknown;
  readonly tools?: readonly { readonly name: string }[];
}): string | undefined {
  if (typeof body.max_tokens !== "number") return "max_tokens: Field required";
  if (body.messages[0]?.role !== "user") return "messages: first message must use the user role";
  const badName = body.tools?.find(({ name }) => !/^[a-zA-Z0-9_-]{1,128}$/.test(name));
  if (badName) return `tools.0.custom.name: String should match pattern, got ${badName.name}`;
  if ((body.tools ?? []).length === 0 && body.messages.some(hasToolBlocks))
    return "messages with tool_use or tool_result blocks need tools";
  for (const [index, message] of body.messages.entries()) {
    const blocks = typeof message.content === "string" ? [] : message.content;
    const next = body.messages[index + 1];
    const fault = messageFault(blocks, next, `messages.${index}`);
    if (fault !== undefined) return fault;
    if (next?.role === message.role) return `messages.${index + 1}: roles must alternate`;
  }
  return undefined;
}

function hasToolBlocks({ content }: WireMessage): boolean {
  return typeof content !== "string" && content.some(({ type }) => /^tool_(?:use|result)$/.test(type));
}

function messageFault(
  blocks: Exclude<WireMessage["content"], string>,
  next: WireMessage | undefined,
  where: string,
): string | undefined {
  if (blocks.some((block) => block.type === "text" && block["text"] === "")) {
    return `${where}: text content blocks must be non-empty`;
  }
  const results = typeof next?.content === "object" ? next.content : [];
  const answered = new Set(
    results.filter(({ type }) => type === "tool_result").map((block) => block["tool_use_id"]),
  );
  const open = blocks.find((block) => block.type === "tool_use" && !answered.has(block["id"]));
  return (
    open &&
    `${where}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open["id"]}`
  );
}
