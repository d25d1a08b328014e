// What the lines of the plain face do: prompts, shell lines, and commands with lists to choose from by number.

import type { SessionConfigOption } from "@parley/acp";
import type { Conversation } from "@parley/client/conversation";
import { endsQuestions, unaskedMode } from "../../agents/known-modes.ts";
import { age, home } from "../../sessions/stored-sessions.ts";
import type { Paint } from "../../terminal/paint.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import { leftByRewind } from "../branches/rewind-lines.ts";
import type { Conversations, ExportFormat, SessionTarget } from "../conversation/conversations.ts";
import {
  choiceNamed,
  choicesOf,
  type SelectOption,
  selectsOf,
  valueName,
} from "../conversation/option-choices.ts";
import { writeExport } from "../conversation/write-export.ts";
import { chatCommands } from "../keys/keys-and-commands.ts";
import { UnknownCommands } from "../keys/unknown-commands.ts";
import type { SessionReview } from "../review/session-review.ts";
import { type Choice, pickByNumber } from "./pick-by-number.ts";
import { runBranchCommand } from "./plain-branches.ts";
import { type PlainReviewOptions, reviewPlainly, takeBackPlainly } from "./plain-review.ts";
import type { LineInput } from "./typed-lines.ts";

export interface PlainCommandsOptions {
  readonly conversation: Conversations;
  readonly lines: LineInput;
  review(session: Conversation): SessionReview | undefined;
  readonly paint: Paint;
  /** Default: lines are not wrapped. */
  columns?(): number | undefined;
  say(text: string): void;
  /** Puts a text into the line that is typed. Absent: it is only said. */
  put?(text: string): void;
  leave(): void;
}

/** Those of the table that only a screen can do are not among them. */
const known: ReadonlySet<string> = new Set([
  "help",
  "new",
  "sessions",
  "agents",
  "modes",
  "models",
  "options",
  "queue",
  "fork",
  "rename",
  "export",
  "restart",
  "review",
  "undo",
  "redo",
  "files",
  "rewind",
  "context",
  "clearContext",
  "compact",
  "leave",
]);

/** Of the commands that work here. */
const ourNames: readonly string[] = [
  ...chatCommands.filter(({ action }) => known.has(action)).map(({ name }) => name),
  "cancel",
  "steer",
];

export class PlainCommands {
  readonly #options: PlainCommandsOptions;
  readonly #unknown = new UnknownCommands();

  constructor(options: PlainCommandsOptions) {
    this.#options = options;
  }

  get #session(): Conversation {
    return this.#options.conversation.current;
  }

  /** A prompt, a command of ours, or a line for the shell. */
  async handle(line: string): Promise<void> {
    if (line.startsWith("!")) return this.#session.shell(line.slice(1).trim());
    const [, name = "", rest = ""] = /^\/(\S+)\s*(.*)$/.exec(line.trim()) ?? [];
    if (name === "cancel") return this.#session.cancel();
    if (name === "steer") return this.#steer(rest);
    const command = chatCommands.find((each) => each.name === name && known.has(each.action));
    if (command !== undefined) return this.#run(command.action, rest.trim());
    const { phase, commands } = this.#session;
    const names = [...ourNames, ...commands.map((each) => each.name)];
    // commands of the agent are prompts, and not known before it is ready
    const why = phase === "ready" ? this.#unknown.refusal(line, names) : undefined;
    if (why === undefined) this.#session.send({ text: line });
    else this.#say(safeLine(why));
  }

  async #run(action: string, rest: string): Promise<void> {
    const { conversation, leave } = this.#options;
    switch (action) {
      case "help":
        return this.#help();
      case "new":
        return void conversation.open({ kind: "new", ...(rest === "" ? {} : { agent: rest }) });
      case "agents":
        return this.#agents(rest);
      case "sessions":
        return this.#resume(rest);
      case "modes":
        return this.#choose("mode", rest);
      case "models":
        return this.#choose("model", rest);
      case "options":
        return this.#allOptions();
      case "queue":
        return this.#queue();
      case "fork":
        return this.#fork();
      case "rename":
        return rest === "" ? this.#say("Type /rename and the new title.") : this.#session.rename(rest);
      case "export":
        return this.#export(rest);
      case "restart":
        return this.#session.restart();
      case "review":
        return this.#reviewed(reviewPlainly);
      case "undo":
        return this.#reviewed((options) => takeBackPlainly((review) => review.undoTurn(), options));
      case "redo":
        return this.#reviewed((options) => takeBackPlainly((review) => review.redoLast(), options));
      case "files":
        return this.#files();
      case "rewind":
      case "context":
      case "clearContext":
      case "compact":
        return runBranchCommand(action, rest, this.#options);
      default:
        return leave();
    }
  }

  #say(text: string): void {
    this.#options.say(text);
  }

  #help(): void {
    const own = chatCommands
      .filter(({ action }) => known.has(action))
      .map(({ name, hint, help }) => `/${name}${hint === undefined ? "" : ` ${hint}`}: ${help}`);
    // one of ours goes before one of theirs with the same name
    const theirs = this.#session.commands
      .filter(({ name }) => !ourNames.includes(name))
      .map(({ name, description }) => `/${safeLine(name)}: ${safeLine(description)}`);
    const rest = [
      "/cancel: stop the turn",
      "/steer TEXT: send a message to the agent while it works",
      "!COMMAND: run a command in a shell and tell the agent",
      "@FILE or @FILE:10-20 in a prompt: attach a file or some of its lines",
    ];
    const ofAgent = theirs.length === 0 ? [] : [`Commands of ${this.#session.agent.name}:`, ...theirs];
    this.#say([...own, ...rest, ...ofAgent].join("\n"));
  }

  async #steer(text: string): Promise<void> {
    if (text === "") return this.#say("Type /steer and the message.");
    if ((await this.#session.steer({ text })) === "resent")
      this.#say(
        `${this.#session.agent.name} takes no messages while it works: it is stopped and gets this next.`,
      );
  }

  // ---- lists

  #pick<Value>(title: string, choices: readonly Choice<Value>[]): Promise<Value | undefined> {
    return pickByNumber(title, choices, this.#options);
  }

  async #agents(name: string): Promise<void> {
    const { conversation } = this.#options;
    if (name !== "") return void conversation.open({ kind: "new", agent: name });
    const choices = (await conversation.agents()).map(
      ({ name: value, description, isInstalled, isDefault }) => {
        const facts = [...(isInstalled ? [] : ["not installed"]), ...(isDefault ? ["default"] : [])];
        return {
          label: `${value}, ${description}${facts.length > 0 ? ` (${facts.join(", ")})` : ""}`,
          value,
        };
      },
    );
    const agent = await this.#pick("Agents", choices);
    if (agent !== undefined) conversation.open({ kind: "new", agent });
  }

  async #resume(query: string, hasAsked = false): Promise<void> {
    const { conversation } = this.#options;
    const found = await conversation.find(query, new AbortController().signal);
    const choices: Choice<SessionTarget | undefined>[] = found
      .filter(({ target }) => target.kind !== "live" || target.session !== this.#session)
      .map(({ agent, title, cwd, updatedAt, state, excerpt, target, isLeft }) => {
        const when = updatedAt === undefined ? "" : `, ${age(Date.now() - updatedAt)}`;
        const words = excerpt === undefined ? "" : `: ${excerpt}`;
        const left = isLeft ? `, ${leftByRewind}` : "";
        return { label: `${title} (${agent}, ${home(cwd)}${when}, ${state}${left})${words}`, value: target };
      });
    const others = { label: "Ask the other agents: starts them, and lists what they have", value: undefined };
    const chosen = await this.#pick("Sessions", (hasAsked ? choices : [...choices, others]).map(asChoice));
    if (chosen === undefined) return;
    if (chosen.value === undefined) {
      for (const problem of await conversation.askOthers()) this.#say(problem);
      return this.#resume(query, true);
    }
    if (await this.#mayOpen(chosen.value)) conversation.open(chosen.value);
  }

  /** The agent names the folder of a session, and the rights of the session follow from it. */
  async #mayOpen(target: SessionTarget): Promise<boolean> {
    if (target.kind !== "listed" || target.cwd === this.#session.cwd) return true;
    this.#say(`${safeLine(target.agent)} says that this session works in ${safeLine(target.cwd)}`);
    const answer = await this.#options.lines.ask("Open it with that folder as its workspace? y or n: ");
    return answer?.trim().toLowerCase() === "y";
  }

  #fork(): void {
    if (!this.#session.agent.accepts.forks)
      return this.#say(`${this.#session.agent.name} cannot copy sessions.`);
    this.#options.conversation.open({ kind: "fork", of: this.#session });
  }

  async #queue(): Promise<void> {
    const { queue } = this.#session;
    const waiting = queue.map(({ id, text }) => ({ label: safeLine(text), value: id }));
    const id = await this.#pick("Waiting prompts; choose one to move it or to take it back", waiting);
    if (id === undefined) return;
    const answer = await this.#options.lines.ask(
      "Its new number, or t to take it back, or Enter for neither: ",
    );
    const typed = answer?.trim().toLowerCase() ?? "";
    // it may have been sent meanwhile
    const now = this.#session.queue;
    const at = now.findIndex((each) => each.id === id);
    if (typed === "") return;
    if (at < 0) return this.#say("It has been sent already.");
    if (typed === "t") return this.#takeBack(id);
    const to = Number(typed);
    if (!Number.isInteger(to) || to < 1 || to > now.length)
      return this.#say(`${safeLine(typed)} is not a number from 1 to ${now.length}.`);
    this.#session.moveQueued(id, to - 1 - at);
    this.#say(this.#session.queue.map(({ text }, index) => `${index + 1}. ${safeLine(text)}`).join("\n"));
  }

  async #takeBack(id: string): Promise<void> {
    const taken = await this.#session.unqueue(id);
    if (taken !== undefined) this.#say(`Taken back: ${safeLine(taken.text)}`);
  }

  // ---- options

  async #choose(category: string, name: string): Promise<void> {
    const [option] = selectsOf(this.#session.options, category);
    if (option === undefined) return this.#say(`${this.#session.agent.name} has no choice of ${category}.`);
    await this.#setTo(option, name);
  }

  async #allOptions(): Promise<void> {
    const { options } = this.#session;
    const choices = options.map((option) => {
      return { label: `${safeLine(option.name)}: ${safeLine(valueName(option))}`, value: option };
    });
    const option = await this.#pick("Options", choices);
    if (option === undefined) return;
    const [select] = selectsOf([option]);
    if (select !== undefined) return this.#setTo(select, "");
    if (option.type === "boolean") return this.#set(option, option.currentValue !== true);
    this.#say(`${safeLine(option.name)} is of a kind that this version does not know.`);
  }

  async #setTo(option: SelectOption, typed: string): Promise<void> {
    const values = choicesOf(option);
    const named = choiceNamed(option, typed);
    if (typed !== "" && named === undefined)
      return this.#say(
        `${safeLine(typed)} is not one of: ${values.map(({ value }) => safeLine(value)).join(", ")}`,
      );
    const choices = values.map(({ value, name }) => ({
      label: `${safeLine(name)}${value === option.currentValue ? " (now)" : ""}`,
      value,
    }));
    const value = named?.value ?? (await this.#pick(safeLine(option.name), choices));
    if (value !== undefined && (await this.#isMeant(option, value))) await this.#set(option, value);
  }

  /** A mode in which nothing is asked is asked about once. */
  async #isMeant(option: SelectOption, value: string): Promise<boolean> {
    const choice = choicesOf(option).find((each) => each.value === value);
    const isMode = option.category === "mode" && value !== option.currentValue;
    if (!isMode || choice === undefined || !endsQuestions(choice)) return true;
    this.#say(safeLine(unaskedMode(this.#session.agent.name, choice.name)));
    const answer = await this.#options.lines.ask("Switch to it? y or n: ");
    return answer?.trim().toLowerCase() === "y";
  }

  async #set({ configId, name, category }: SessionConfigOption, value: string | boolean): Promise<void> {
    await this.#session.setOption(configId, value);
    // the transcript tells each change of the mode
    if (category !== "mode") this.#say(`${safeLine(name)}: ${safeLine(String(value))}`);
  }

  // ---- what was changed

  async #reviewed(work: (options: PlainReviewOptions) => Promise<void>): Promise<void> {
    const session = this.#session;
    const review = this.#options.review(session);
    if (review === undefined) return this.#say("Changes are not followed here.");
    const { lines } = this.#options;
    const say = (text: string) => this.#say(text);
    const { paint, columns } = this.#options;
    await work({
      review,
      cwd: session.cwd,
      paint,
      columns: columns?.(),
      lines,
      say,
      isBusy: () => session.turn !== undefined,
    });
  }

  #files(): void {
    const files = [...this.#session.view.files.values()].map(
      ({ path, operations }) => `${safeLine(path)}: ${[...operations].join(", ")}`,
    );
    this.#say(files.length === 0 ? "The agent has touched no files." : files.join("\n"));
  }

  async #export(name: string): Promise<void> {
    const session = this.#session;
    const { conversation } = this.#options;
    const exported = (format: ExportFormat) => conversation.exported({ kind: "live", session }, format);
    const path = await writeExport(name, { cwd: session.cwd, exported });
    this.#say(`Written to ${path}`);
  }
}

/** So that a choice of nothing differs from no choice. */
function asChoice<Value>(choice: Choice<Value>): Choice<Choice<Value>> {
  return { label: choice.label, value: choice };
}
