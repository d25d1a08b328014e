// The values that an option of an agent can have, and a watch on its mode.

import type { SessionConfigOption, SessionUpdate } from "@parley/acp";
import type { Conversation } from "@parley/client/conversation";
import { endsQuestions } from "../../agents/known-modes.ts";

export type SelectOption = Extract<SessionConfigOption, { type: "select" }>;

export interface OptionChoice {
  readonly value: string;
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly group?: string;
}

export function choicesOf({ options }: SelectOption): readonly OptionChoice[] {
  return options.flatMap((choice): readonly OptionChoice[] =>
    "options" in choice ? choice.options.map((each) => ({ ...each, group: choice.name })) : [choice],
  );
}

/** Those with a list of values; of one category if it is given. */
export function selectsOf(options: readonly SessionConfigOption[], category?: string): SelectOption[] {
  return options.filter(
    (option): option is SelectOption =>
      option.type === "select" && (category === undefined || option.category === category),
  );
}

/** The choice with this value or name, in any case. */
export function choiceNamed(option: SelectOption, name: string): OptionChoice | undefined {
  const wanted = name.toLowerCase();
  return choicesOf(option).find((each) =>
    [each.value, each.name].some((word) => word.toLowerCase() === wanted),
  );
}

/** The name of the value that an option has now, as the agent calls it. */
export function valueName(option: SessionConfigOption): string {
  const { currentValue } = option;
  if (option.type === "boolean") return currentValue === true ? "on" : "off";
  const [select] = selectsOf([option]);
  const named = select && choicesOf(select).find(({ value }) => value === currentValue);
  return named?.name ?? String(currentValue ?? "");
}

/** What is looked at of a session. */
interface WatchedSession extends Pick<Conversation, "phase" | "options"> {
  /** Puts a line into its transcript. */
  ownUpdate(update: SessionUpdate): void;
}

/** To be called when something of the session has changed. A mode that it has before it is ready is no change. */
export function modeWatch(): (session: WatchedSession) => void {
  let last: OptionChoice | undefined;
  return (session) => {
    const [option] = selectsOf(session.options, "mode");
    if (option === undefined) return;
    const value = option.currentValue;
    const before = last;
    last = choicesOf(option).find((each) => each.value === value) ?? { value, name: value };
    if (before === undefined || before.value === value || session.phase !== "ready") return;
    const isOpen = endsQuestions(last);
    const title = `mode: ${before.name} → ${last.name}${isOpen ? "; this mode never asks" : ""}`;
    session.ownUpdate({ sessionUpdate: "notice", severity: isOpen ? "warning" : "info", title });
  };
}
