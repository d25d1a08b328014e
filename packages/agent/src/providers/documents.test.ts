// Tests that a PDF file reaches each provider in its own form.

import assert from "node:assert/strict";
import { test } from "node:test";
import { anthropicEvents, anthropicFault } from "../../test/fake-provider/anthropic-wire.ts";
import { ask, modelAt, withFake } from "../../test/fake-provider/asking.ts";
import { chatEvents, chatFault } from "../../test/fake-provider/chat-wire.ts";
import { streamed } from "../../test/fake-provider/fake-provider.ts";
import { geminiEvents } from "../../test/fake-provider/gemini-wire.ts";
import { responsesEvents } from "../../test/fake-provider/responses-wire.ts";
import type { ModelMessage } from "../model/model.ts";
import type { ProviderConfig } from "./provider-config.ts";

const data = Buffer.from("%PDF-1.7").toString("base64");
const url = `data:application/pdf;base64,${data}`;
const filename = "a b.pdf";

interface Wire {
  readonly id: string;
  readonly provider?: ProviderConfig;
  readonly answer: readonly string[];
  /** The parts of the user's message in the body of a request. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the test is about
  readonly parts: (body: any) => readonly unknown[];
  readonly document: unknown;
}

const chatParts: Wire["parts"] = (body) => {
  assert.equal(chatFault(body), undefined);
  return body.messages.at(-1).content;
};

const wires: readonly Wire[] = [
  {
    id: "anthropic/claude-sonnet-5-5",
    answer: anthropicEvents({ blocks: [{ type: "text", pieces: ["Read."] }] }),
    parts(body) {
      assert.equal(anthropicFault(body), undefined);
      return body.messages[0].content.map(({ cache_control: _, ...part }: Record<string, unknown>) => part);
    },
    document: {
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data },
      title: filename,
    },
  },
  {
    id: "openai/gpt-6.1-sol",
    answer: responsesEvents({ text: ["Read."] }),
    parts: (body) => body.input.at(-1).content,
    document: { type: "input_file", filename, file_data: url },
  },
  {
    id: "old/gpt-5.2",
    provider: { kind: "openai-chat" },
    answer: chatEvents({ text: ["Read."] }),
    parts: chatParts,
    document: { type: "file", file: { filename, file_data: url } },
  },
  {
    id: "vllm/qwen",
    provider: { models: { qwen: { takesDocuments: true } } },
    answer: chatEvents({ text: ["Read."] }),
    parts: chatParts,
    document: { type: "file", file: { filename, file_data: url } },
  },
  {
    id: "google/gemini-4-argon",
    answer: geminiEvents([{ text: "Read." }]),
    parts: (body) => body.contents[0].parts,
    document: { inlineData: { mimeType: "application/pdf", data } },
  },
];

const messages: ModelMessage[] = [
  {
    role: "user",
    content: [
      { type: "text", text: "Read it" },
      { type: "document", mediaType: "application/pdf", data, name: "file:///project/a%20b.pdf" },
    ],
  },
];

for (const { id, provider, answer, parts, document } of wires) {
  test(`${id}: a PDF file goes in as a document`, async () => {
    await withFake([streamed(answer)], async (fake) => {
      await ask(modelAt(fake.url, id, provider), { messages });
      assert.deepEqual(parts(fake.requests[0]?.body).at(-1), document);
    });
  });
}

test("a local server gets a note instead, unless the config says that its model takes PDF files", async () => {
  await withFake([streamed(chatEvents({ text: ["Read."] }))], async (fake) => {
    await ask(modelAt(fake.url, "vllm/qwen"), { messages });
    const sent = JSON.stringify(fake.requests[0]?.body);
    assert.match(sent, /a%20b\.pdf left out: qwen does not accept PDF documents/);
  });
});

const read: readonly ModelMessage[] = [
  { role: "user", content: [{ type: "text", text: "Read it" }] },
  {
    role: "assistant",
    content: [{ type: "tool_call", id: "call-1", name: "read", input: { path: "a b.pdf" } }],
  },
  {
    role: "tool",
    outcomes: [
      {
        callId: "call-1",
        name: "read",
        isError: false,
        content: [
          { type: "text", text: "[a b.pdf]" },
          { type: "document", mediaType: "application/pdf", data, name: filename },
        ],
      },
    ],
  },
];

for (const { id, provider, answer } of wires) {
  test(`${id}: a PDF file that a tool has read reaches the model`, async () => {
    await withFake([streamed(answer)], async (fake) => {
      await ask(modelAt(fake.url, id, provider), { messages: read });
      const sent = JSON.stringify(fake.requests[0]?.body);
      assert.ok(sent.includes(data), id);
    });
  });
}
