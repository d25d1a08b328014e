// The `todo` tool: shows the plan to the user.

import { defineTool, textPart } from "../base/define-tool.ts";

export const todoTool = defineTool({
  name: "todo",
  description:
    "Shows the user your plan: all steps, in order, with what is done. Use it for work of several steps, and again whenever a step begins or ends; what you leave out is taken off the plan.",
  isReadOnly: false,
  properties: {
    entries: {
      type: "array",
      items: {
        type: "object",
        properties: {
          content: { type: "string", minLength: 1, description: "The step, in a few words" },
          status: { type: "string", enum: ["pending", "in_progress", "completed"] },
          priority: { type: "string", enum: ["high", "medium", "low"], description: "Default medium" },
        },
        required: ["content", "status"],
        additionalProperties: false,
      },
    },
  },
  required: ["entries"],
  prepare({ entries }) {
    const done = entries.filter(({ status }) => status === "completed").length;
    const now = entries.find(({ status }) => status === "in_progress")?.content;
    const title = entries.length === 0 ? "Clear the plan" : `Plan: ${done} of ${entries.length} done`;
    return {
      presentation: { title: now === undefined ? title : `${title}, now: ${now}`, kind: "think" },
      access: { type: "none" },
      async run({ plan }) {
        await plan(
          entries.map(({ content, status, priority = "medium" }) => ({ content, status, priority })),
        );
        const open = entries.length - done;
        return {
          content: [
            textPart(`the plan is shown: ${done} done, ${open} to do${open > 0 ? "; go on with it" : ""}`),
          ],
          rawOutput: { done, open },
        };
      },
    };
  },
});
