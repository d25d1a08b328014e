// A model on the loopback interface that speaks Anthropic's Messages API. What a user says decides what it does:
//   RUN: COMMAND   calls the tool Bash, and says "done" when it has been told the result
//   CALL: TOOL {}  calls the tool of an MCP server, and says "done" when it has been told the result
//   HOLD           begins to answer and never ends
//   anything else  is answered with "heard: " and what was said

import { randomUUID } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Message {
  readonly role: string;
  readonly content: string | readonly { readonly type: string; readonly text?: string }[];
}

interface Body {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly Message[];
  readonly tools?: readonly { readonly name: string }[];
}

export interface MessagesModel {
  readonly url: string;
  /** Every conversation that it was sent, as text. */
  readonly conversations: readonly string[];
  close(): void;
}

export async function messagesModel(): Promise<MessagesModel> {
  const conversations: string[] = [];
  let calls = 0;
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    if (request.method !== "POST" || !request.url?.startsWith("/v1/messages")) {
      return void response.writeHead(404, { "content-type": "application/json" }).end("{}");
    }
    if (request.url.includes("count_tokens")) return json(response, { input_tokens: 10 });
    const body = JSON.parse(text) as Body; // the agent's own request
    conversations.push(JSON.stringify(body.messages));
    const { said, hasResult } = lastOfUser(body.messages);
    const command = /RUN: ([^\n]+)/.exec(said)?.[1];
    const hasBash = body.tools?.some(({ name }) => name === "Bash") === true;
    if (command !== undefined && hasBash && !hasResult) {
      const id = `toolu_${++calls}`;
      const input = JSON.stringify({ command, description: "what was asked for" });
      return answer(response, body, { type: "tool_use", id, name: "Bash", input: {} }, input);
    }
    const [, called, given = ""] = /CALL: (\w+) (\{.*?\})/.exec(said) ?? [];
    const offered = body.tools?.find(({ name }) => called !== undefined && name.endsWith(`__${called}`));
    if (offered !== undefined && !hasResult) {
      const id = `toolu_${++calls}`;
      return answer(response, body, { type: "tool_use", id, name: offered.name, input: {} }, given);
    }
    const words = hasResult ? "done" : `heard: ${said.trim().slice(-200)}`;
    answer(response, body, { type: "text", text: "" }, words, said.includes("HOLD") && hasBash);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    conversations,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Some agents put messages of their own behind what the user said. */
function lastOfUser(messages: readonly Message[]): { said: string; hasResult: boolean } {
  const { content = "" } = messages.findLast(({ role }) => role === "user") ?? {};
  if (typeof content === "string") return { said: content, hasResult: false };
  // what was said behind the last result counts
  const at = content.findLastIndex(({ type }) => type === "tool_result");
  const said = content
    .slice(at + 1)
    .map(({ text = "" }) => (text.startsWith("<system-reminder>") ? "" : text))
    .join("\n");
  return { said, hasResult: at >= 0 && said.trim() === "" };
}

function json(response: ServerResponse, value: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}

interface Block {
  readonly type: "text" | "tool_use";
  readonly [field: string]: unknown;
}

function answer(
  response: ServerResponse,
  body: Body,
  block: Block,
  content: string,
  isEndless = false,
): void {
  const isCall = block.type === "tool_use";
  const stop_reason = isCall ? "tool_use" : "end_turn";
  const head = { id: `msg_${randomUUID()}`, type: "message", role: "assistant", model: body.model };
  if (body.stream !== true) {
    const whole = isCall ? { ...block, input: JSON.parse(content) } : { ...block, text: content };
    const usage = { input_tokens: 10, output_tokens: 5 };
    return json(response, { ...head, content: [whole], stop_reason, stop_sequence: null, usage });
  }
  const send = (event: { readonly type: string; readonly [field: string]: unknown }) =>
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const usage = { input_tokens: 10, output_tokens: 1 };
  send({
    type: "message_start",
    message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage },
  });
  send({ type: "content_block_start", index: 0, content_block: block });
  const delta = isCall
    ? { type: "input_json_delta", partial_json: content }
    : { type: "text_delta", text: content };
  send({ type: "content_block_delta", index: 0, delta });
  if (isEndless) return;
  send({ type: "content_block_stop", index: 0 });
  send({ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } });
  send({ type: "message_stop" });
  response.end();
}
