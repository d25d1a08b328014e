// Collects the events of one model answer into an assistant message.

import type { ModelEvent, ModelMessage, TextPart, ThinkingPart, ToolCallPart } from "./model.ts";

export type AssistantPart = TextPart | ThinkingPart | ToolCallPart;

/** `message` is valid at any time, also when the answer was interrupted. */
export function assistantMessage() {
  const parts: AssistantPart[] = [];
  let open: "text" | "thinking" | undefined;

  const append = (type: "text" | "thinking", text: string, signature: string | undefined): void => {
    const signed = signature === undefined ? {} : { signature };
    const last = parts.at(-1);
    if (open === type && last?.type === type) {
      parts[parts.length - 1] = { ...last, text: last.text + text, ...signed };
    } else if (text !== "" || signature !== undefined) {
      parts.push({ type, text, ...signed });
    }
    open = signature === undefined ? type : undefined;
  };

  return {
    /**
     * Leaves out what an interruption has made void, and returns the text that the user saw of it. Thinking without a
     * text is void too, since there is nothing to continue.
     */
    interrupt({ isAfterBlock }: { readonly isAfterBlock: boolean }): string {
      const isOpen = open !== undefined && !isAfterBlock;
      const last = isOpen ? parts.length - 1 : parts.length;
      const whole = parts.slice(0, last).some(hasText) ? last : 0;
      open = undefined;
      return parts
        .splice(whole)
        .map((part) => (part.type === "text" ? part.text : ""))
        .join("");
    },
    add(event: ModelEvent): void {
      if (event.type === "text" || event.type === "thinking") append(event.type, event.text, event.signature);
      else if (event.type === "tool_call") {
        parts.push(event);
        open = undefined;
      } else if (event.type === "tool_input") open = undefined;
    },
    get message(): Extract<ModelMessage, { role: "assistant" }> {
      return { role: "assistant", content: [...parts] };
    },
    get calls(): readonly ToolCallPart[] {
      return parts.filter((part) => part.type === "tool_call");
    },
  };
}

function hasText(part: AssistantPart): boolean {
  return part.type === "text" && part.text.trim() !== "";
}
