// The `task` tool: a subagent that only reads works on a task and reports.

import { defineTool, textPart } from "../base/define-tool.ts";
import { shownText } from "../base/shown-content.ts";

/** A longer report is cut, since every later request carries it. */
const maxCharacters = 20_000;

export const taskTool = defineTool({
  name: "task",
  description:
    "Have a separate agent research a question in the project. It can only read (read, list, find, grep), knows nothing but your prompt, cannot ask back, and answers with one report. Use it for broad searches whose output you do not need to see. For independent questions call it several times at once. Do not use it for what one grep or one read answers.",
  isReadOnly: true,
  draft: { title: "Task", kind: "think" },
  properties: {
    description: {
      type: "string",
      minLength: 1,
      description: "The task in three to six words, for the user",
    },
    prompt: {
      type: "string",
      minLength: 1,
      description: "What to find out, where to look, and what the report must contain",
    },
  },
  required: ["description", "prompt"],
  prepare({ description: name, prompt }) {
    return {
      presentation: { title: `Task: ${name}`, kind: "think", content: [shownText(prompt)] },
      access: { type: "none" },
      async run({ delegate }) {
        const { text, requests, calls } = await delegate({ name, prompt });
        const isCut = text.length > maxCharacters;
        const report = isCut
          ? `${text.slice(0, maxCharacters).toWellFormed()}\n[the report was longer and is cut here]`
          : text;
        return { content: [textPart(report)], rawOutput: { requests, calls }, shown: [shownText(report)] };
      },
    };
  },
});
