// The `ask` tool: asks the user a question.

import { asksForSecret } from "../../text/form-rules.ts";
import { defineTool, textPart } from "../base/define-tool.ts";
import { shownText } from "../base/shown-content.ts";
import { ToolError } from "../base/tool.ts";

export const askTool = defineTool({
  name: "ask",
  description:
    "Asks the user a question, when you cannot go on without the answer and cannot find it out yourself. Give the answers to choose from, or none for an answer in the user's own words.",
  isReadOnly: false,
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
        "a question must not ask for a password, a key or a token, since you would see it: say where the user can set it (an environment variable, a file), or what to log in to",
      );
    }
    return {
      presentation: { title: question, kind: "other" },
      access: { type: "none" },
      async run({ ask }) {
        const answer = await ask(question, choices);
        if (answer === undefined) {
          const modelText =
            "[the user gave no answer; do what you think is best, and say what you took for granted]";
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
