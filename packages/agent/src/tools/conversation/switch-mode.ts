// The `switch_mode` tool: shows the plan and asks to leave architect mode.

import type { PermissionOption } from "@parley/acp";
import { defineTool, textPart } from "../base/define-tool.ts";
import { shownText } from "../base/shown-content.ts";
import { type Mode, ToolError } from "../base/tool.ts";

/** The user's choices, most trusting first. */
const choices: readonly (PermissionOption & { readonly mode?: Mode })[] = [
  { optionId: "code", name: "Yes, and make the changes without asking", kind: "allow_always", mode: "code" },
  { optionId: "ask", name: "Yes, and ask me before each change", kind: "allow_once", mode: "ask" },
  { optionId: "architect", name: "No, keep planning", kind: "reject_once" },
];

export const switchModeTool = defineTool({
  name: "switch_mode",
  description:
    "Ends planning: shows the user your whole plan and asks whether to carry it out. Use it in architect mode, when the plan is ready. The user decides how to go on.",
  isReadOnly: false,
  properties: {
    plan: { type: "string", minLength: 1, description: "What you are going to do, in Markdown" },
  },
  required: ["plan"],
  prepare({ plan }) {
    return {
      presentation: { title: "Carry out this plan?", kind: "switch_mode", content: [shownText(plan)] },
      access: { type: "none" },
      async run({ call, modes }) {
        if (modes.current !== "architect") {
          throw new ToolError(`the mode is ${modes.current}, not architect: you may go on without asking`);
        }
        const { allowed, optionId } = await call.ask(
          choices.map(({ optionId: id, name, kind }) => ({ optionId: id, name, kind })),
        );
        const mode = choices.find((choice) => choice.optionId === optionId)?.mode;
        if (!allowed || mode === undefined) {
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
