// The `task` tool: a subagent that only reads works on a task and reports.

import { defineTool, textPart } from "../base/define-tool.ts";
import { shownText } from "../base/shown-content.ts";

/** A longer report is cut, since every later request carries it. */
const maxCharacters = 20_000;

export const taskTool = defineTool({
  name: "task",
  description:
    "Let a separate agent research a question in the project. It can only read, knows only your prompt, cannot ask questions, and returns one report. Use it for broad searches whose output you do not need to see. For independent questions, make several calls at once. Do not use it for something that one grep or read can answer.",
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
          ? `${text.slice(0, maxCharacters).toWellFormed()}\n[the report is longer and was cut here]`
          : text;
        return { content: [textPart(report)], rawOutput: { requests, calls }, shown: [shownText(report)] };
      },
    };
  },
});
