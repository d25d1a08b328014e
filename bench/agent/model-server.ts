// A model on the loopback interface that does what the prompt says, in the words of Chat Completions: `stream` talks for
// ever, `bash COMMAND` calls bash, `call NAME` calls a tool without arguments, `read COUNT FILE` reads it so often.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
}

/** Calls in one answer. */
const callsAtOnce = 50;

export async function modelServer(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => answer((JSON.parse(body) as { messages: ChatMessage[] }).messages, response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answer(messages: readonly ChatMessage[], response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const at = messages.findLastIndex(({ role }) => role === "user");
  const [verb = "", ...words] = textOf(messages[at]).split(" ");
  const done = messages.slice(at + 1).filter(({ role }) => role === "tool").length;
  if (verb === "stream") {
    const timer = setInterval(() => write(response, { content: "word " }), 5);
    response.on("close", () => clearInterval(timer));
    return;
  }
  const wanted = verb === "read" ? Number(words[0]) : verb === "bash" || verb === "call" ? 1 : 0;
  if (done >= wanted) {
    write(response, { content: "done" });
    return end(response, "stop");
  }
  const count = Math.min(callsAtOnce, wanted - done);
  const [name, input] =
    verb === "read"
      ? ["read", { path: words[1] }]
      : verb === "bash"
        ? ["bash", { command: words.join(" ") }]
        : [words[0], {}];
  const calls = Array.from({ length: count }, (_, index) => ({
    index,
    id: `call_${done + index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  write(response, { tool_calls: calls });
  end(response, "tool_calls");
}

/** What was typed. The agent adds parts of its own behind it. */
function textOf(message: ChatMessage | undefined): string {
  const { content } = message ?? {};
  const [first] = Array.isArray(content) ? content : [];
  return typeof content === "string"
    ? content
    : String((first as { text?: unknown } | undefined)?.text ?? "");
}

function write(response: ServerResponse, delta: object, more: object = {}): void {
  const choices = [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: null, ...more }];
  response.write(
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`,
  );
}

function end(response: ServerResponse, reason: string): void {
  write(response, {}, { finish_reason: reason });
  response.end("data: [DONE]\n\n");
}
