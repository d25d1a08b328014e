// Going back to an earlier prompt, beginning anew, and what fills the context.

import type { RewindOutcome } from "@parley/client/conversation";
import { noCompaction, ofAgent } from "../branches/agent-commands.ts";
import { contextLines } from "../branches/context-lines.ts";
import {
  isWorking,
  promptFacts,
  promptLine,
  rewindLines,
  undoHelp,
  undoLabel,
} from "../branches/rewind-lines.ts";
import { Picker, type PickerItem } from "../sheets/picker.ts";
import type { ChatFace } from "./chat-face.ts";

/** The row that goes back to the branch that was left. */
const undoRow = Symbol("undo");

type Row = string | typeof undoRow;

export class BranchChoices {
  readonly #face: ChatFace;

  constructor(face: ChatFace) {
    this.#face = face;
  }

  run(action: "rewind" | "context" | "clearContext" | "compact", rest: string): void {
    const { session, conversation } = this.#face;
    if (action === "rewind") return rest === "undo" ? this.#undo() : this.#list(rest);
    const sent = ofAgent(session, action === "clearContext" ? "clear" : action, rest);
    if (sent !== undefined) return session.send({ text: sent });
    if (action === "context") return this.#face.say(contextLines(session.view).join("\n"));
    // its commands are not known yet
    if (session.phase === "starting")
      return this.#face.hint("the agent is starting: try again when it is ready");
    if (action === "compact") return this.#face.say(noCompaction(session.agent.name));
    conversation.open({ kind: "like", of: session });
    this.#face.say("a new session; the one before is in the list of sessions (Ctrl-P)");
  }

  #list(query: string): void {
    const { session, paint } = this.#face;
    const { from } = session.branches ?? {};
    const prompts: readonly PickerItem<Row>[] = session.prompts.toReversed().map((prompt) => ({
      label: promptLine(prompt),
      detail: promptFacts(prompt),
      value: prompt.messageId,
    }));
    const undo: PickerItem<Row> = { label: undoLabel, detail: undoHelp, value: undoRow };
    const items: readonly PickerItem<Row>[] = from === undefined ? prompts : [...prompts, undo];
    if (session.turn !== undefined) return this.#face.say(isWorking);
    if (items.length === 0) return this.#face.hint("there is no earlier prompt");
    const close = () => this.#face.open(undefined);
    // that of the first Esc
    this.#face.hint("");
    this.#face.open(
      new Picker<Row>({
        title: "Rewind to before",
        paint,
        items,
        query,
        hint: `Enter goes back, with the files as they were${from === undefined ? "" : ", Alt-U undoes the rewind"}, Esc closes`,
        chosen: (row) => {
          close();
          if (row === undoRow) this.#undo();
          else this.#rewind(session.rewind(row));
        },
        keys: {
          "alt+u": () => {
            if (from === undefined) return;
            close();
            this.#undo();
          },
        },
        closed: close,
        redraw: () => this.#face.redraw(),
      }),
    );
  }

  #undo(): void {
    const { session } = this.#face;
    if (session.branches?.from === undefined)
      return this.#face.hint("there is no rewind to undo: this session was not begun by one");
    this.#rewind(session.undoRewind());
  }

  #rewind(work: Promise<RewindOutcome>): void {
    const { conversation, composer } = this.#face;
    this.#face.hint("going back …");
    this.#face.attempt(
      work.then((outcome) => {
        this.#face.hint("");
        const session = conversation.open({ kind: "kept", id: outcome.session.historyId ?? "" });
        if (outcome.input !== undefined) composer.restore(outcome.input);
        this.#face.say(rewindLines(outcome, session.cwd, "the list of sessions (Ctrl-P)").join("\n"));
      }),
    );
  }
}
