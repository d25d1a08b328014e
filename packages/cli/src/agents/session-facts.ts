// What a session offers: options with their choices, and commands; as data, and in words that can be typed.

import type { ClientSession, SessionConfigOption } from "@parley/acp";
import { safeLine } from "../terminal/sanitise.ts";

export interface OptionChoice {
  readonly value: string;
  readonly name: string;
  readonly description?: string;
  readonly group?: string;
}

export interface OptionFacts {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly category?: string;
  readonly value: unknown;
  /** Of an option that is one of several. */
  readonly choices?: readonly OptionChoice[];
}

export interface CommandFacts {
  readonly name: string;
  readonly description: string;
  /** What may be typed behind it. */
  readonly hint?: string;
}

export interface SessionFacts {
  readonly options: readonly OptionFacts[];
  readonly commands: readonly CommandFacts[];
}

export const noSession: SessionFacts = { options: [], commands: [] };

/** Many agents name their commands when they have answered: they get so long for it. */
export async function sessionFacts(session: ClientSession, commandsMs: number): Promise<SessionFacts> {
  if (session.commands.length === 0 && commandsMs > 0) await firstCommands(session, commandsMs);
  return { options: session.options.map(optionFacts), commands: session.commands.map(commandFacts) };
}

function firstCommands(session: ClientSession, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const stop = session.onUpdate(({ sessionUpdate }) => {
    if (sessionUpdate === "available_commands_update") resolve();
  });
  return promise.finally(() => {
    clearTimeout(timer);
    stop();
  });
}

function optionFacts(option: SessionConfigOption): OptionFacts {
  const { configId, name, description, category } = option;
  const choices = choicesOf(option);
  return {
    id: configId,
    name,
    ...(description == null ? {} : { description }),
    ...(category == null ? {} : { category }),
    value: "currentValue" in option ? option.currentValue : undefined,
    ...(choices === undefined ? {} : { choices }),
  };
}

function choicesOf(option: SessionConfigOption): readonly OptionChoice[] | undefined {
  if (option.type !== "select") return undefined;
  // as: the tag says so; an option of a kind that we do not know has another
  const { options } = option as Extract<SessionConfigOption, { type: "select"; options: unknown }>;
  return options.flatMap((choice) =>
    "groupId" in choice
      ? choice.options.map((each) => choiceFacts(each, choice.name))
      : [choiceFacts(choice)],
  );
}

function choiceFacts(
  { value, name, description }: { value: string; name: string; description?: string | null },
  group?: string,
): OptionChoice {
  return {
    value,
    name,
    ...(description == null ? {} : { description }),
    ...(group === undefined ? {} : { group }),
  };
}

function commandFacts({ name, description, input }: ClientSession["commands"][number]): CommandFacts {
  const { hint } = (input ?? {}) as { hint?: unknown }; // each kind of input has its own members
  return {
    name: String(name),
    description: String(description),
    ...(typeof hint === "string" ? { hint } : {}),
  };
}

const longestList = 20;

/** How each is chosen, and what it can be. */
export function optionLines(options: readonly OptionFacts[]): string[] {
  return options.map(({ id, category, value, choices }) => {
    const flag = category === "mode" || category === "model" ? `--${category} ` : `--set ${id}=`;
    const all = choices?.map((choice) => choice.value) ?? ["true", "false"];
    const rest = all.length - longestList;
    const shown = `${all.slice(0, longestList).join(" | ")}${rest > 0 ? ` | ${rest} more, see --json` : ""}`;
    return safeLine(`${id} = ${String(value)}  (${flag}${shown})`);
  });
}

export function commandLines(commands: readonly CommandFacts[]): string[] {
  return commands.map(({ name, description, hint }) =>
    safeLine(`/${name}${hint === undefined ? "" : ` ${hint}`}  ${description}`),
  );
}
