// What a provider wants back with a thought, a text or a call. It is kept as text that nobody reads but this file, with
// the model that it belongs to: providers refuse what another model has signed.

import type { ProviderOptions } from "./language-model.ts";
import type { ProviderKind } from "./provider-config.ts";

type Metadata = Readonly<Record<string, unknown>>;

/** Of all that the SDK tells with a part, what must go back with it. */
const wanted: Readonly<Record<ProviderKind, Readonly<Record<SignedPart, readonly string[]>>>> = {
  anthropic: { text: [], thinking: ["signature", "redactedData"], call: [] },
  // Without the encrypted content the id means nothing: responses are not stored at OpenAI.
  openai: { text: ["phase"], thinking: ["reasoningEncryptedContent"], call: [] },
  "openai-chat": { text: [], thinking: [], call: [] },
  google: {
    text: ["thoughtSignature"],
    thinking: ["thoughtSignature"],
    call: ["thoughtSignature"],
  },
  compatible: { text: [], thinking: [], call: ["thoughtSignature"] },
};

/** With one of the wanted fields, these go back too. */
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

/** Nothing where another model has signed, or nobody. */
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
    // A transcript that somebody else has written.
    return undefined;
  }
}
