// Checks the content of a prompt against what the agent accepts.

import type { AgentCapabilities } from "../../edition/agent-edition.ts";
import type { ContentBlock } from "../../model/content.ts";

/** Describes the first block that the agent does not accept. Text and links are always accepted. */
export function unsupportedContent(
  content: readonly ContentBlock[],
  features: Pick<AgentCapabilities, "image" | "audio" | "embeddedContext">,
): string | undefined {
  for (const { type } of content) {
    const fine =
      type === "text" ||
      type === "resource_link" ||
      (type === "image" && features.image) ||
      (type === "audio" && features.audio) ||
      (type === "resource" && features.embeddedContext);
    if (!fine) return `this agent takes no content of type ${String(type)}: leave it out, or send a link`;
  }
  return undefined;
}
