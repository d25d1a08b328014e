// Packs the provider data that must go back with a part; it is bound to its model, since others refuse it.

import type { ProviderKind } from "./builtin-providers.ts";
import type { ProviderOptions } from "./language-model.ts";

type Metadata = Readonly<Record<string, unknown>>;

const ofOpenai = { text: ["phase"], thinking: ["reasoningEncryptedContent"], call: [] };
const ofGoogle = { text: ["thoughtSignature"], thinking: ["thoughtSignature"], call: ["thoughtSignature"] };
const ofClaude = { text: [], thinking: ["signature", "redactedData"], call: [] };

/** The metadata fields that must go back, by kind and part. */
const wanted: Readonly<Record<ProviderKind, Readonly<Record<SignedPart, readonly string[]>>>> = {
  anthropic: ofClaude,
  bedrock: ofClaude,
  // useless without the encrypted content: OpenAI does not store the responses
  openai: ofOpenai,
  azure: ofOpenai,
  "openai-chat": { text: [], thinking: [], call: [] },
  google: ofGoogle,
  vertex: ofGoogle,
  compatible: { text: [], thinking: [], call: ["thoughtSignature"] },
};

/** Fields that go back along with a wanted one. */
const alongside = ["itemId"];

export type SignedPart = "text" | "thinking" | "call";

export function sign(
  model: string,
  kind: ProviderKind,
  part: SignedPart,
  metadata: Metadata | undefined,
): string | undefined {
  const fields = wanted[kind][part];
  if (metadata === undefined || !fields.some((field) => metadata[field] != null)) return undefined;
  const kept = Object.entries(metadata).filter(
    ([field, value]) => value != null && (fields.includes(field) || alongside.includes(field)),
  );
  return JSON.stringify({ model, ...Object.fromEntries(kept) });
}

/** Undefined without a signature or with that of another model. */
export function signedOptions(
  model: string,
  optionsName: string,
  signature: string | undefined,
): ProviderOptions | undefined {
  if (signature === undefined) return undefined;
  try {
    const { model: signer, ...fields } = JSON.parse(signature);
    return signer === model ? { [optionsName]: fields } : undefined;
  } catch {
    // written by something else
    return undefined;
  }
}
