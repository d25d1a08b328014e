// The list of sessions: show, continue, copy, rename and export one of them.

import type { Conversation } from "@parley/client/conversation";
import { safeLine } from "../../terminal/sanitise.ts";
import { leftByRewind } from "../branches/rewind-lines.ts";
import type { ExportFormat, FoundSession, SessionTarget } from "../conversation/conversations.ts";
import { writeExport } from "../conversation/write-export.ts";
import { ConfirmSheet } from "../sheets/confirm-sheet.ts";
import { Picker, type PickerItem } from "../sheets/picker.ts";
import type { ChatFace } from "./chat-face.ts";

/** The row that asks the agents that do not run. */
const others = { kind: "others" } as const;

type Row = SessionTarget | typeof others;

export class SessionChoices {
  readonly #face: ChatFace;
  /** Whether the agents that do not run were asked for their sessions. */
  #hasAsked = false;

  constructor(face: ChatFace) {
    this.#face = face;
  }

  list(query: string): void {
    const { conversation, paint } = this.#face;
    const close = () => this.#face.open(undefined);
    let typed = query;
    const closing = (work: (target: SessionTarget) => void) => (row: Row) => {
      close();
      if (row.kind === "others") this.#face.attempt(this.#askOthers(typed));
      else work(row);
    };
    this.#face.open(
      new Picker<Row>({
        title: "Sessions",
        paint,
        query,
        search: async (words, signal) => {
          typed = words;
          const found = (await conversation.find(words, signal)).map((each) =>
            sessionItem(each, this.#face.session),
          );
          return this.#hasAsked ? found : [...found, othersItem];
        },
        hint: "Enter continues, Alt-F forks, Alt-R renames, Alt-E exports, Ctrl-X ends",
        chosen: closing((target) => this.#choose(target)),
        keys: {
          "alt+f": closing((target) => this.#face.attempt(this.#forkOf(target))),
          "alt+r": closing((target) => this.#rename(target)),
          "alt+e": closing((target) => this.#face.attempt(this.#exportOf(target))),
          "ctrl+x": closing((target) => this.#end(target)),
        },
        closed: close,
        redraw: () => this.#face.redraw(),
      }),
    );
  }

  fork(session: Conversation): void {
    if (!session.agent.accepts.forks) return this.#face.hint(`${session.agent.name} cannot copy sessions`);
    this.#face.conversation.open({ kind: "fork", of: session });
  }

  async export(name: string): Promise<void> {
    const { session, conversation } = this.#face;
    const exported = (format: ExportFormat) => conversation.exported({ kind: "live", session }, format);
    const path = await writeExport(name, { cwd: session.cwd, exported });
    this.#face.say(`written to ${path}`);
  }

  /** Starts the agents that do not run for as long as it takes, and lists again. */
  async #askOthers(query: string): Promise<void> {
    this.#face.hint("asking the other agents for their sessions");
    const problems = await this.#face.conversation.askOthers();
    this.#hasAsked = true;
    for (const problem of problems) this.#face.say(problem);
    this.list(query);
  }

  /** The agent names the folder of a session, and the rights of the session follow from it. */
  #choose(target: SessionTarget): void {
    if (target.kind !== "listed" || target.cwd === this.#face.session.cwd) return void this.#show(target);
    const answer = (isYes: boolean) => {
      this.#face.open(undefined);
      if (isYes) this.#show(target);
    };
    const lines = [`${target.agent} says that this session works in ${target.cwd}`];
    const ask = "Open it with that folder as its workspace?";
    this.#face.open(new ConfirmSheet({ paint: this.#face.paint, lines, ask, answer }));
  }

  #show(target: SessionTarget): Conversation {
    return this.#face.conversation.open(target);
  }

  async #forkOf(target: SessionTarget): Promise<void> {
    const session = this.#show(target);
    await this.#started(session);
    // the failure of one that did not start is on the screen
    if (session.phase === "ready") this.fork(session);
  }

  #started(session: Conversation): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (session.phase === "starting") return;
        remove();
        resolve();
      };
      const remove = this.#face.conversation.onEvent(check);
      check();
    });
  }

  /** The title is changed in the prompt. */
  #rename(target: SessionTarget): void {
    const { title = "" } = this.#show(target);
    const { composer } = this.#face;
    if (composer.isEmpty) composer.text = `/rename ${title}`;
    else this.#face.hint("the prompt is not empty: clear it, then type /rename and the new title");
  }

  async #exportOf(target: SessionTarget): Promise<void> {
    const { conversation, session } = this.#face;
    const exported = (format: ExportFormat) => conversation.exported(target, format);
    this.#face.say(`written to ${await writeExport("", { cwd: session.cwd, exported })}`);
  }

  /** Ends a session that is open here. It stays in the history. */
  #end(target: SessionTarget): void {
    if (target.kind !== "live") return this.#face.hint("it is not open here");
    if (this.#face.conversation.sessions.length === 1)
      return this.#face.hint("it is the only one: /quit leaves");
    this.#face.attempt(target.session.close());
  }
}

const othersItem: PickerItem<Row> = {
  label: "Ask the other agents",
  detail: "starts those that are installed, and lists the sessions that they have",
  value: others,
};

function sessionItem(found: FoundSession, shown: Conversation): PickerItem<Row> {
  const { agent, title, cwd, updatedAt, state, excerpt, target, isLeft } = found;
  const when =
    updatedAt === undefined ? "" : new Date(updatedAt).toISOString().slice(0, 16).replace("T", " ");
  const parts = [
    agent,
    state === "kept" ? "" : state,
    isLeft ? leftByRewind : "",
    when,
    cwd,
    excerpt ?? "",
  ].map((part) => safeLine(part));
  const detail = parts.filter((part) => part !== "").join(" · ");
  const isCurrent = target.kind === "live" && target.session === shown;
  return { label: safeLine(title), detail, isCurrent, value: target };
}
