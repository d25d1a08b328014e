// Describes the config options and commands of a session, as data and as text.

import type { ClientSession, SessionConfigOption } from "@parley/acp";
import { optional } from "@parley/acp/internal";
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
  /** The values of a select option. */
  readonly choices?: readonly OptionChoice[];
}

export interface CommandFacts {
  readonly name: string;
  readonly description: string;
  /** A hint for the arguments. */
  readonly hint?: string;
}

export interface SessionFacts {
  readonly options: readonly OptionFacts[];
  readonly commands: readonly CommandFacts[];
}

export const noSession: SessionFacts = { options: [], commands: [] };

/** Many agents announce their commands after the session is open; waits for them up to `commandsMs`. */
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
  return {
    id: configId,
    name,
    ...optional({ description: description ?? undefined, category: category ?? undefined }),
    value: "currentValue" in option ? option.currentValue : undefined,
    ...optional({ choices: choicesOf(option) }),
  };
}

function choicesOf(option: SessionConfigOption): readonly OptionChoice[] | undefined {
  if (option.type !== "select") return undefined;
  // as: the tag says so
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
  return { value, name, ...optional({ description: description ?? undefined, group }) };
}

function commandFacts({ name, description, input }: ClientSession["commands"][number]): CommandFacts {
  const { hint } = (input ?? {}) as { hint?: unknown }; // each kind of input has its own members
  return {
    name: String(name),
    description: String(description),
    ...optional({ hint: typeof hint === "string" ? hint : undefined }),
  };
}

const longestList = 20;

/** The option of `parley run` that sets each, and its values. */
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
