// Summarises a conversation without a model, for the offline model.

import { isObject } from "@parley/acp/jsonrpc";
import type { ModelMessage } from "./model.ts";

const maxAsked = 20;
const maxTouched = 50;

export function plainSummary(messages: readonly ModelMessage[]): string {
  const asked: string[] = [];
  const touched = new Map<string, Set<string>>();
  let last = "";
  for (const message of messages) {
    if (message.role === "user") {
      for (const part of message.content) if (part.type === "text") asked.push(firstLine(part.text));
    } else if (message.role === "assistant") {
      for (const part of message.content) {
        if (part.type === "text") last = part.text;
        else if (part.type === "tool_call") note(touched, part.name, part.input);
      }
    }
  }
  const lines = ["Asked:", ...asked.slice(-maxAsked).map((line) => `- ${line}`)];
  const used = Array.from(touched, ([tool, what]) => `- ${tool}: ${[...what].slice(-maxTouched).join(", ")}`);
  if (used.length > 0) lines.push("", "Done with tools:", ...used);
  if (last !== "") lines.push("", "Said last:", firstLine(last));
  return lines.join("\n");
}

function note(touched: Map<string, Set<string>>, tool: string, input: unknown): void {
  const fields = isObject(input) ? Object.values(input) : [];
  const first = fields.find((value) => typeof value === "string");
  const what = touched.get(tool) ?? new Set();
  touched.set(tool, what.add(firstLine(typeof first === "string" ? first : "")));
}

function firstLine(text: string): string {
  return (text.trim().split("\n")[0] ?? "").slice(0, 200);
}
