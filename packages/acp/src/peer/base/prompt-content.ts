// Which content a prompt may have, by what the agent takes.

import type { AgentFeatures } from "../../edition/agent-ops.ts";
import type { ContentBlock } from "../../model/content.ts";

/** What is wrong with the content for this agent, or nothing (C21). Text and links are always fine (A9). */
export function unsupportedContent(
  content: readonly ContentBlock[],
  features: Pick<AgentFeatures, "image" | "audio" | "embeddedContext">,
): string | undefined {
  for (const { type } of content) {
    const fine =
      type === "text" ||
      type === "resource_link" ||
      (type === "image" && features.image) ||
      (type === "audio" && features.audio) ||
      (type === "resource" && features.embeddedContext);
    if (!fine) return `this agent takes no content of type ${String(type)}`;
  }
  return undefined;
}
