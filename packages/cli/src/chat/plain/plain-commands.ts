// What the lines of the plain face do: prompts, shell lines, and commands with lists to choose from by number.

import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { SessionConfigOption } from "@parley/acp";
import { age, home } from "../../sessions/stored-sessions.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import type { Conversation, LiveSession } from "../conversation/conversation.ts";
import { chatCommands } from "../keys/keys-and-commands.ts";
import type { LineInput } from "./typed-lines.ts";

const mostShown = 20;

export interface PlainCommandsOptions {
  readonly conversation: Conversation;
  readonly lines: LineInput;
  say(text: string): void;
  leave(): void;
}

interface Choice<Value> {
  readonly label: string;
  readonly value: Value;
}

type SelectOption = Extract<SessionConfigOption, { type: "select" }>;

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
  "leave",
]);

export class PlainCommands {
  readonly #options: PlainCommandsOptions;

  constructor(options: PlainCommandsOptions) {
    this.#options = options;
  }

  get #session(): LiveSession {
    return this.#options.conversation.current;
  }

  /** A prompt, a command of ours, or a line for the shell. */
  async handle(line: string): Promise<void> {
    if (line.startsWith("!")) return this.#session.shell(line.slice(1).trim());
    const [, name = "", rest = ""] = /^\/(\S+)\s*(.*)$/.exec(line.trim()) ?? [];
    if (name === "cancel") return this.#session.cancel();
    if (name === "steer") return this.#steer(rest);
    const command = chatCommands.find((each) => each.name === name && known.has(each.action));
    // commands of the agent are prompts
    if (command === undefined) return this.#session.send({ text: line });
    await this.#run(command.action, rest.trim());
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
    const theirs = this.#session.commands.map(
      ({ name, description }) => `/${safeLine(name)}: ${safeLine(description)}`,
    );
    const rest = [
      "/cancel: stop the turn",
      "/steer TEXT: send a message to the agent while it works",
      "!COMMAND: run a command in a shell and tell the agent",
      "@FILE or @FILE:10-20 in a prompt: attach a file or some of its lines",
    ];
    const ofAgent = theirs.length === 0 ? [] : [`Of ${this.#session.agent.name}:`, ...theirs];
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

  /** Undefined without a choice. */
  async #pick<Value>(title: string, choices: readonly Choice<Value>[]): Promise<Value | undefined> {
    if (choices.length === 0) {
      this.#say(`${title}: none`);
      return undefined;
    }
    const shown = choices.slice(0, mostShown);
    const more = choices.length > shown.length ? [`and ${choices.length - shown.length} more`] : [];
    this.#say([`${title}:`, ...shown.map(({ label }, at) => `${at + 1}. ${label}`), ...more].join("\n"));
    const answer = (
      await this.#options.lines.ask(`Number, 1 to ${shown.length}, or Enter for none: `)
    )?.trim();
    if (answer === undefined || answer === "") return undefined;
    const choice = /^\d+$/.test(answer) ? shown[Number(answer) - 1] : undefined;
    if (choice === undefined) this.#say(`${safeLine(answer)} is not one of the numbers.`);
    return choice?.value;
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

  async #resume(query: string): Promise<void> {
    const { conversation } = this.#options;
    const found = await conversation.find(query, new AbortController().signal);
    const choices = found
      .filter(({ target }) => target.kind !== "live" || target.session !== this.#session)
      .map(({ agent, title, cwd, updatedAt, state, excerpt, target }) => {
        const when = updatedAt === undefined ? "" : `, ${age(Date.now() - updatedAt)}`;
        const words = excerpt === undefined ? "" : `: ${excerpt}`;
        return { label: `${title} (${agent}, ${home(cwd)}${when}, ${state})${words}`, value: target };
      });
    const target = await this.#pick("Sessions", choices);
    if (target !== undefined) conversation.open(target);
  }

  #fork(): void {
    if (!this.#session.agent.accepts.forks)
      return this.#say(`${this.#session.agent.name} cannot copy sessions.`);
    this.#options.conversation.open({ kind: "fork", of: this.#session });
  }

  async #queue(): Promise<void> {
    const waiting = this.#session.queue.map(({ id, text }) => ({ label: safeLine(text), value: id }));
    const id = await this.#pick("Waiting prompts; choose one to take it back", waiting);
    const taken = id === undefined ? undefined : this.#session.unqueue(id);
    if (taken !== undefined) this.#say(`Taken back: ${safeLine(taken.text)}`);
  }

  // ---- options

  async #choose(category: string, name: string): Promise<void> {
    const option = this.#selects().find((each) => each.category === category);
    if (option === undefined) return this.#say(`${this.#session.agent.name} has no choice of ${category}.`);
    await this.#set(option, name);
  }

  async #allOptions(): Promise<void> {
    const choices = this.#selects().map((option) => {
      const current = valuesOf(option).find(({ value }) => value === option.currentValue);
      return {
        label: `${safeLine(option.name)}: ${safeLine(current?.name ?? option.currentValue)}`,
        value: option,
      };
    });
    const option = await this.#pick("Options", choices);
    if (option !== undefined) await this.#set(option, "");
  }

  async #set(option: SelectOption, typed: string): Promise<void> {
    const values = valuesOf(option);
    const wanted = typed.toLowerCase();
    const named = values.find(({ value, name }) =>
      [value, name].some((each) => each.toLowerCase() === wanted),
    );
    if (typed !== "" && named === undefined)
      return this.#say(
        `${safeLine(typed)} is not one of: ${values.map(({ value }) => safeLine(value)).join(", ")}`,
      );
    const choices = values.map(({ value, name }) => ({
      label: `${safeLine(name)}${value === option.currentValue ? " (now)" : ""}`,
      value,
    }));
    const value = named?.value ?? (await this.#pick(safeLine(option.name), choices));
    if (value === undefined) return;
    await this.#session.setOption(option.configId, value);
    this.#say(`${safeLine(option.name)}: ${safeLine(value)}`);
  }

  #selects(): readonly SelectOption[] {
    return this.#session.options.filter((option): option is SelectOption => option.type === "select");
  }

  async #export(file: string): Promise<void> {
    const name =
      file === "" ? `session-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}.md` : file;
    const path = resolve(this.#session.cwd, name);
    const text = await this.#session.exported(name.endsWith(".json") ? "json" : "markdown");
    // it may hold what nobody else should read; an existing file is never overwritten
    await writeFile(path, text, { mode: 0o600, flag: "wx" });
    this.#say(`Written to ${path}`);
  }
}

function valuesOf({ options }: SelectOption): readonly { readonly value: string; readonly name: string }[] {
  return options.flatMap((choice) => ("groupId" in choice ? choice.options : [choice]));
}
