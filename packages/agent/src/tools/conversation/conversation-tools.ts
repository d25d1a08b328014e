// The tools that talk with the user: `todo` shows the plan, `ask` asks, and `switch_mode` leaves architect mode.

import type { PermissionOption } from "@parley/acp";
import { asksForSecret } from "../../text/safe-text.ts";
import { defineTool, textPart } from "../base/define-tool.ts";
import { shownText } from "../base/shown-content.ts";
import { type Mode, ToolError } from "../base/tool.ts";

export const todoTool = defineTool({
  name: "todo",
  description:
    "Show the user your plan: all steps in order, each with its status. Use it for work with several steps, and call it again whenever you start or finish a step. Each call replaces the whole plan.",
  isReadOnly: false,
  draft: { title: "Plan", kind: "think" },
  modes: ["ask", "code", "architect", "chat"],
  aliases: {
    entries: ["todos", "plan", "steps"],
    content: ["step", "text", "task", "title", "description"],
    status: ["state"],
  },
  ignores: ["id", "activeForm", "explanation"],
  properties: {
    entries: {
      type: "array",
      items: {
        type: "object",
        properties: {
          content: { type: "string", minLength: 1, description: "The step in a few words" },
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
            textPart(`the plan is shown: ${done} done, ${open} to do${open > 0 ? "; continue with it" : ""}`),
          ],
          rawOutput: { done, open },
        };
      },
    };
  },
});

export const askTool = defineTool({
  name: "ask",
  description:
    "Ask the user a question. Use it only if you need the answer to continue and cannot find it yourself. Give options to choose from, or none for a free-text answer.",
  isReadOnly: false,
  draft: { title: "Ask a question", kind: "other" },
  modes: ["ask", "code", "architect", "chat"],
  aliases: { question: ["prompt", "message", "text"], options: ["choices", "answers"] },
  properties: {
    question: { type: "string", minLength: 1 },
    options: {
      type: "array",
      items: { type: "string", minLength: 1 },
      description: "Answers to choose from",
    },
  },
  required: ["question"],
  prepare({ question, options = [] }) {
    const choices = [...new Set(options)];
    if (choices.length === 0 && asksForSecret(question)) {
      throw new ToolError(
        "a question must not ask for a password, a key or a token, because you would see it; tell the user where to set it (an environment variable, a file) or where to log in",
      );
    }
    return {
      presentation: { title: question, kind: "other" },
      access: { type: "none" },
      async run({ ask }) {
        const answer = await ask(question, choices);
        if (answer === undefined) {
          const modelText = "[the user gave no answer; do what you think is best, and say what you assumed]";
          return {
            content: [textPart(modelText)],
            rawOutput: { answer: null },
            shown: [shownText("No answer.")],
          };
        }
        return {
          content: [textPart(`the user answered: ${answer}`)],
          rawOutput: { answer },
          shown: [shownText(`Answer: ${answer}`)],
        };
      },
    };
  },
});

/** The user's choices, most trusting first. */
const choices: readonly (PermissionOption & { readonly mode?: Mode })[] = [
  { optionId: "code", name: "Yes, and make the changes without asking", kind: "allow_always", mode: "code" },
  { optionId: "ask", name: "Yes, and ask me before each change", kind: "allow_once", mode: "ask" },
  { optionId: "architect", name: "No, keep planning", kind: "reject_once" },
];

export const switchModeTool = defineTool({
  name: "switch_mode",
  description:
    "Show the user your complete plan and ask whether to carry it out. Use it in architect mode when the plan is ready.",
  isReadOnly: false,
  draft: { title: "Show the plan", kind: "switch_mode" },
  modes: ["architect"],
  aliases: { plan: ["text", "content"] },
  properties: {
    plan: { type: "string", minLength: 1, description: "The plan, in Markdown" },
  },
  required: ["plan"],
  prepare({ plan }) {
    return {
      presentation: { title: "Carry out this plan?", kind: "switch_mode", content: [shownText(plan)] },
      access: { type: "none" },
      async run({ call, modes }) {
        if (modes.current !== "architect") {
          throw new ToolError(`the mode is ${modes.current}, not architect; continue without this tool`);
        }
        const options = choices.map(({ optionId, name, kind }) => ({ optionId, name, kind }));
        const chosen = await call.requestPermission({ options });
        const mode = choices.find(({ optionId }) => optionId === chosen?.optionId)?.mode;
        if (mode === undefined) {
          const modelText = "the user wants to keep planning: ask what to change, or improve the plan";
          return { content: [textPart(modelText)], rawOutput: { mode: "architect" } };
        }
        await modes.switchTo(mode);
        const how = mode === "code" ? "changes need no permission" : "the user is asked before each change";
        return {
          content: [textPart(`the user agrees; the mode is now ${mode}: ${how}. Carry out the plan.`)],
          rawOutput: { mode },
        };
      },
    };
  },
});
