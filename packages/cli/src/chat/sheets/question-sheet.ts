// The sheet for each kind of question.

import type { OpenQuestion } from "@parley/client/conversation";
import { terminalLogin } from "../../agents/login-asker.ts";
import type { QuestionSource } from "../../questions/permission-answers.ts";
import type { Screen } from "../../screen/screen.ts";
import { openAddress } from "../../terminal/open-address.ts";
import type { Paint } from "../../terminal/paint.ts";
import { escapedLine } from "../../terminal/sanitise.ts";
import { AddressSheet } from "./address-sheet.ts";
import { AskedSheet } from "./asked-sheet.ts";
import { ConfirmSheet } from "./confirm-sheet.ts";
import { CredentialSheet } from "./credential-sheet.ts";
import { FormSheet } from "./form-sheet.ts";
import { PermissionSheet } from "./permission-sheet.ts";
import { Picker } from "./picker.ts";
import type { Sheet } from "./sheet.ts";

/** Where a question is asked. */
export interface SheetOptions extends QuestionSource {
  readonly paint: Paint;
  readonly screen: Pick<Screen, "copy" | "suspend">;
  /** How many questions wait, with this one. */
  count(): number;
  /** Whether another question was there just before. */
  readonly isAfterAnother?: boolean;
  /** Opens an address in the browser; false where there is none. Default: the opener of the system. */
  readonly open?: (url: string) => boolean;
}

export function questionSheet(question: OpenQuestion, options: SheetOptions): AskedSheet {
  const { paint, isAfterAnother = false } = options;
  const above = () => caption(question, options.count());
  return new AskedSheet(sheetOf(question, options), paint, above, isAfterAnother);
}

/** Which of the questions it is, and which subagent asks. */
function caption({ from }: OpenQuestion, count: number): string {
  const which = count > 1 ? [`question 1 of ${count}`] : [];
  const who = from === undefined ? [] : [`from the subagent ${escapedLine(from)}`];
  return [...which, ...who].join(" · ");
}

function sheetOf(question: OpenQuestion, options: SheetOptions): Sheet {
  const { paint, agent } = options;
  switch (question.kind) {
    case "permission":
      return new PermissionSheet(question.question, options, paint, question.answer);
    case "elicitation":
      return elicitationSheet(question, options);
    case "login":
      return new Picker({
        title: `Log in to ${agent}`,
        paint,
        items: question.methods.map(({ id, name, description = "" }) => ({
          label: escapedLine(name),
          detail: escapedLine(description),
          value: id,
        })),
        chosen: (id) => question.answer(id),
        closed: () => question.answer(undefined),
        redraw: () => undefined,
      });
    case "credential":
      return new CredentialSheet(question.variable, agent, paint, question.answer);
    case "terminal":
      return commandSheet(question, options);
    case "confirm":
      return new ConfirmSheet({ paint, ...question });
    default:
      return question satisfies never;
  }
}

function elicitationSheet(
  asked: Extract<OpenQuestion, { kind: "elicitation" }>,
  options: SheetOptions,
): Sheet {
  const { paint, agent, screen } = options;
  const { question, answer } = asked;
  if (question.mode === "form") return new FormSheet(question, { agent, paint, answer });
  const open = (url: string) => {
    if ((options.open ?? openAddress)(url)) return "It opens in your browser.";
    screen.copy(url);
    return "No browser can be opened here. The address was copied: open it where you have one.";
  };
  return new AddressSheet(question, { agent, paint, open, answer });
}

/** Shows the command, and gives it the terminal if the user agrees. */
function commandSheet(asked: Extract<OpenQuestion, { kind: "terminal" }>, options: SheetOptions): Sheet {
  const { agent, paint, screen } = options;
  const { command, answer } = asked;
  const stopped = 130;
  return new ConfirmSheet({
    paint,
    lines: [
      `${agent} logs in with a command in this terminal, in ${command.cwd}:`,
      `    ${[command.command, ...command.args].join(" ")}`,
    ],
    ask: "Run it?",
    answer: (isYes) => {
      if (!isYes) return answer(stopped);
      screen.suspend(() => terminalLogin(command)).then(answer, () => answer(1));
    },
  });
}
