// The append-only face of a conversation, for screen readers, dumb terminals and pipes.

import type { Entry } from "@parley/acp";
import { sleep } from "@parley/acp/jsonrpc";
import type { Conversation } from "@parley/client/conversation";
import { drawItem } from "../../draw/draw-item.ts";
import { turnSummaryLines } from "../../draw/usage-text.ts";
import { bufferedOutput } from "../../printers/output.ts";
import { TextPrinter } from "../../printers/text-printer.ts";
import { askPlainly, declined, QuestionTurns, subjectOf } from "../../questions/ask-plainly.ts";
import { painter } from "../../terminal/paint.ts";
import { messageLines, safeLine } from "../../terminal/sanitise.ts";
import { columnsOf } from "../../terminal/wrap-line.ts";
import type { ConversationEvent, Conversations } from "../conversation/conversations.ts";
import type { SessionReview } from "../review/session-review.ts";
import { PlainCommands } from "./plain-commands.ts";
import { TypedLines } from "./typed-lines.ts";

/** A second Ctrl-C within this time forces or leaves. */
const againMs = 3_000;

export interface PlainOptions {
  review(session: Conversation): SessionReview | undefined;
  /** Aborts when the conversation must end. */
  readonly ending: AbortSignal;
}

/** Shows a conversation until the user leaves. Returns the exit code. */
export async function showPlainly(
  conversation: Conversations,
  { review, ending }: PlainOptions,
): Promise<number> {
  const face = new PlainFace(conversation, review);
  try {
    return await Promise.race([face.left, sleep(Number.POSITIVE_INFINITY, ending).then(() => 0)]);
  } finally {
    face.close();
  }
}

class PlainFace {
  readonly #conversation: Conversations;
  readonly #lines: TypedLines;
  readonly #commands: PlainCommands;
  readonly #output = bufferedOutput(process.stdout);
  readonly #paint = painter(process.stdout.isTTY === true);
  readonly #left = Promise.withResolvers<number>();
  readonly #removeListener: () => void;
  #unfollow: () => void = () => undefined;
  #printer: TextPrinter;
  readonly #questions = new QuestionTurns({
    questions: () => this.#session.questions,
    ask: (question, over) => {
      this.#printer.pause();
      const write = (text: string) => {
        this.#output.write(text);
        this.#output.flush();
      };
      const terminal = { lines: this.#lines, paint: this.#paint, write };
      return askPlainly(this.#session, question, terminal, over).finally(() => this.#printer.resume());
    },
    failed: (error) => this.#say(safeLine(String(error))),
    asked: () => this.#next(),
  });
  #interruptedAt = Number.NEGATIVE_INFINITY;
  #isHandling = false;
  #saidPhase = "";

  constructor(conversation: Conversations, review: PlainOptions["review"]) {
    this.#conversation = conversation;
    this.#printer = this.#follow(conversation.current);
    this.#lines = new TypedLines({
      changed: () => this.#next(),
      interrupt: () => this.#interrupt(),
    });
    this.#commands = new PlainCommands({
      conversation,
      lines: this.#lines,
      paint: this.#paint,
      columns: () => columnsOf(process.stdout),
      review,
      say: (text) => this.#say(text),
      ...(this.#lines.isTyped && { put: (text: string) => this.#lines.put(text) }),
      leave: () => this.#left.resolve(0),
    });
    this.#removeListener = conversation.onEvent((event) => this.#event(event));
    const { draft } = conversation.current;
    if (this.#lines.isTyped) {
      this.#say("Type a prompt, or /help. Ctrl-C stops the agent, Ctrl-D leaves.");
      if (draft.includes("\n")) this.#say(`Not sent last time:\n${draft}`);
    }
    this.#ask();
    this.#lines.invite();
    if (this.#lines.isTyped && !draft.includes("\n")) this.#lines.put(draft);
  }

  get left(): Promise<number> {
    return this.#left.promise;
  }

  close(): void {
    const { unfinished } = this.#lines;
    if (unfinished !== "") this.#session.draft = unfinished;
    this.#removeListener();
    this.#unfollow();
    this.#questions.close();
    this.#output.flush();
    this.#lines.close();
  }

  get #session(): Conversation {
    return this.#conversation.current;
  }

  // ---- what happens

  #event(event: ConversationEvent): void {
    const { session } = event;
    if (event.kind === "shown") return this.#shown(session);
    if (session !== this.#session) return this.#elsewhere(event);
    if (event.kind === "notice") this.#printer.notice(event.notice.text);
    if (event.kind === "turn") {
      this.#printer.pause();
      this.#printer.resume();
      const width = columnsOf(process.stdout) ?? 200;
      const lines = turnSummaryLines(event.summary, { width, paint: this.#paint });
      if (lines.length > 0) this.#say(lines.join("\n"));
    }
    if (event.kind === "state") this.#phase(session);
    if (event.kind === "questions") this.#ask();
    if (event.kind === "entries") return;
    if (event.kind === "turn") this.#leaveIfHeld();
    this.#next();
    if (event.kind === "turn") this.#lines.invite();
  }

  /** Of a session that is not shown, only what needs the user is told. */
  #elsewhere({ kind, session }: ConversationEvent): void {
    if (kind === "questions" && session.questions.length > 0)
      this.#say(`${session.agent.name} (${session.title ?? "new session"}) needs you: /resume`);
  }

  #phase({ phase, problem }: Conversation): void {
    const said = `${this.#session.key} ${phase} ${problem?.message ?? ""}`;
    if (said === this.#saidPhase) return;
    this.#saidPhase = said;
    if (problem === undefined) return;
    for (const text of [problem.message, problem.stderr, problem.hint])
      if (text !== undefined) this.#printer.notice(text);
    if (this.#lines.isTyped) {
      this.#printer.notice("/restart tries again");
      this.#lines.invite();
    }
    // nobody can type it
    else if (phase === "failed") this.#left.resolve(1);
    else this.#leaveIfHeld();
  }

  /** A line of a pipe is read when nothing waits: one that waits now was not sent, and nobody can send it. */
  #leaveIfHeld(): void {
    if (!this.#lines.isTyped && this.#session.queue.length > 0) this.#left.resolve(1);
  }

  #shown(session: Conversation): void {
    this.#output.flush();
    this.#questions.close();
    this.#say(`Now with ${session.agent.name}: ${session.title ?? "a new session"}`);
    this.#unfollow();
    this.#printer = this.#follow(session);
    this.#ask();
    this.#lines.invite();
  }

  #follow(session: Conversation): TextPrinter {
    const isTerminal = process.stdout.isTTY === true;
    const printer = new TextPrinter({
      output: this.#output,
      paint: this.#paint,
      warn: (text) => void process.stderr.write(messageLines(text, columnsOf(process.stderr))),
      cwd: session.cwd,
      showsPrompts: true,
      ...(isTerminal ? { columns: () => columnsOf(process.stdout) } : {}),
    });
    this.#unfollow = session.onEntry((entry) => {
      // what the user has just typed is on the terminal already
      if (isTerminal && session.phase === "ready" && isOwnWord(entry)) return;
      printer.entry(entry);
      if (entry.kind === "answer") this.#answered(session, entry.askId);
    });
    return printer;
  }

  /** What became of a question, and by which rule: the printer of a run does not tell it. */
  #answered({ view, cwd }: Conversation, askId: string): void {
    const item = view.timeline.findLast((each) => each.kind === "permission" && each.askId === askId);
    if (item?.kind !== "permission" || item.answer?._meta === undefined) return;
    const width = columnsOf(process.stdout) ?? Number.POSITIVE_INFINITY;
    this.#say(drawItem(item, view, { width, paint: this.#paint, cwd }).join("\n"));
  }

  #say(text: string): void {
    this.#output.write(`${text}\n`);
    this.#output.flush();
  }

  // ---- what the user does

  #interrupt(): void {
    const now = performance.now();
    const isAgain = now - this.#interruptedAt < againMs;
    this.#interruptedAt = now;
    const session = this.#session;
    if (session.turn === undefined && !isAgain) {
      session.cancel();
      return this.#say("\nCtrl-C again leaves.");
    }
    if (session.turn === undefined) return this.#left.resolve(0);
    if (!session.turn.isCancelling) {
      this.#say("\nStopping. Ctrl-C again ends the agent.");
      return session.cancel();
    }
    // its failure is the phase of the session
    session.force().catch((error: unknown) => this.#say(String(error)));
  }

  /** A pipe is read on when the agent is idle, so that each line finds the state that it was written for. */
  get #isOpen(): boolean {
    const { phase, turn, queue } = this.#session;
    if (this.#isHandling || this.#questions.isAsking) return false;
    return this.#lines.isTyped || (phase !== "starting" && turn === undefined && queue.length === 0);
  }

  #next(): void {
    while (this.#isOpen) {
      const line = this.#lines.next();
      if (line === undefined) {
        if (this.#lines.isOver) this.#left.resolve(this.#session.phase === "crashed" ? 1 : 0);
        return;
      }
      this.#handle(line);
    }
  }

  #handle(line: string): void {
    if (line.trim() === "") return this.#lines.invite();
    this.#isHandling = true;
    // it was written again, or not wanted
    this.#session.draft = "";
    this.#commands
      .handle(line)
      .catch((error: unknown) => this.#printer.notice(error instanceof Error ? error.message : String(error)))
      .finally(() => {
        this.#isHandling = false;
        const { turn, queue } = this.#session;
        // what waits for the agent to start is answered soon: the answer begins a line of its own
        if (turn === undefined && queue.length === 0) this.#lines.invite();
        this.#next();
      });
  }

  /** Asks the oldest question of the session. */
  #ask(): void {
    if (this.#lines.isTyped) return this.#questions.next();
    const [question] = this.#session.questions;
    if (question === undefined) return;
    this.#printer.notice(`refused, since nobody can be asked through a pipe: ${subjectOf(question)}`);
    declined(question);
  }
}

function isOwnWord(entry: Entry): boolean {
  return (
    entry.kind === "prompt" ||
    (entry.kind === "update" && entry.update.sessionUpdate.startsWith("user_message"))
  );
}
