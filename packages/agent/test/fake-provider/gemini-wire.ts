// Gemini's streamGenerateContent, as its servers stream it.

import { sse } from "./fake-provider.ts";

export interface GeminiPart {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: { readonly name: string; readonly args: object };
}

export function geminiEvents(parts: readonly GeminiPart[], finishReason: string | null = "STOP"): string[] {
  const usageMetadata = {
    promptTokenCount: 10,
    cachedContentTokenCount: 4,
    candidatesTokenCount: 3,
    thoughtsTokenCount: 2,
    totalTokenCount: 15,
  };
  const chunks = parts.map((part) => candidate({ content: { role: "model", parts: [part] }, index: 0 }));
  if (finishReason === null) return chunks;
  return [
    ...chunks,
    candidate(
      { content: { role: "model", parts: [{ text: "" }] }, finishReason, index: 0 },
      { usageMetadata },
    ),
  ];
}

function candidate(fields: object, more: object = {}): string {
  return sse({ candidates: [fields], ...more, modelVersion: "fake", responseId: "r1" });
}

export function geminiError(
  code: number,
  status: string,
  message: string,
  details: readonly object[] = [],
): object {
  return { error: { code, message, status, details } };
}
