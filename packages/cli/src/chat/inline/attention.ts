// What calls the user: bell, notice of the desktop, title of the window, and what happens in sessions that are not shown.

import type { Conversation, OpenQuestion, SessionProblem } from "@parley/client/conversation";
import type { Screen } from "../../screen/screen.ts";
import type { ConversationEvent, Conversations } from "../conversation/conversations.ts";

export interface AttentionOptions {
  readonly screen: Screen;
  readonly conversation: Conversations;
  /** Whether to ring and to tell the desktop. */
  readonly notifies: boolean;
  /** Prints a sentence. */
  say(text: string, role: "dim" | "warning" | "error"): void;
}

/** A turn that took longer is worth a notice. */
const longTurnMs = 10_000;

export class Attention {
  readonly #options: AttentionOptions;
  /** What was told once. */
  readonly #told = new WeakSet<OpenQuestion | SessionProblem>();

  constructor(options: AttentionOptions) {
    this.#options = options;
  }

  call(text: string): void {
    const { notifies, screen } = this.#options;
    if (!notifies) return;
    screen.bell();
    if (!screen.isFocused) screen.notify(text);
  }

  turnEnded({ session, summary }: Extract<ConversationEvent, { kind: "turn" }>): void {
    if (summary.durationMs > longTurnMs || !this.#options.screen.isFocused)
      this.call(`${session.agent.name} is done: ${session.title ?? session.cwd}`);
  }

  /** What the user must know of a session that is not shown. */
  elsewhere(event: ConversationEvent): void {
    const { session } = event;
    const name = nameOf(session);
    switch (event.kind) {
      case "notice": {
        const { level, text } = event.notice;
        if (level !== "info") this.#options.say(`${name}: ${text}`, level);
        break;
      }
      case "turn":
        this.#options.say(`${name} is done: Ctrl-P shows it`, "dim");
        this.turnEnded(event);
        break;
      case "questions":
        this.#asked(session, name);
        break;
      case "state":
        this.problem(session);
        break;
      default:
        break;
    }
  }

  #asked({ questions }: Conversation, name: string): void {
    const fresh = questions.filter((question) => !this.#told.has(question));
    if (fresh.length === 0) return;
    for (const question of fresh) this.#told.add(question);
    this.#options.say(`${name} needs you: Ctrl-P goes there`, "warning");
    this.call(`${name} needs you`);
  }

  /** Says once why the agent has ended, and what to do. */
  problem(session: Conversation): void {
    const { problem, agent } = session;
    if (problem === undefined || this.#told.has(problem)) return;
    this.#told.add(problem);
    const { message, stderr, hint } = problem;
    const isShown = session === this.#options.conversation.current;
    const first = isShown ? message : `${nameOf(session)}: ${message}`;
    const lines = [first, ...(stderr === undefined ? [] : [stderr]), ...(hint === undefined ? [] : [hint])];
    this.#options.say(lines.join("\n"), "error");
    this.call(`${agent.name} has ended`);
  }

  /** The title tells from afar whether the agent works or somebody is asked, in any session. */
  title(): void {
    const { screen, conversation } = this.#options;
    const { agent, title, turn } = conversation.current;
    const isAsked = conversation.sessions.some(({ questions }) => questions.length > 0);
    const mark = isAsked ? "? " : turn === undefined ? "" : "… ";
    screen.title(`${mark}${title ?? "parley"} (${agent.name})`);
  }
}

function nameOf({ agent, title }: Conversation): string {
  return `${agent.name} (${title ?? "new session"})`;
}
