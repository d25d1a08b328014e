// The values that an option of an agent can have.

import type { SessionConfigOption } from "@parley/acp";

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
