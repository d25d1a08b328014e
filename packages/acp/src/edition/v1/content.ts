// The kinds of content that version 1 knows. Its list is closed, the model's is open.

import type * as wire from "../../wire/v1/types.gen.ts";

const v1Content = new Set<unknown>(["text", "image", "audio", "resource_link", "resource"]);

export function isV1Content(block: { type: unknown }): block is wire.ContentBlock {
  return v1Content.has(block.type);
}
