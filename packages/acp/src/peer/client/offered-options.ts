// The options of a session as its agent last listed them.

import type { SessionSetup } from "../../edition/agent-edition.ts";
import type { ClientSessionEdition } from "../../edition/client-edition.ts";
import type { SessionConfigOption } from "../../model/content.ts";
import type { JsonValue } from "../../model/custom-types.ts";
import type { SessionUpdate } from "../../model/update.ts";

export class OfferedOptions {
  readonly #edition: ClientSessionEdition;
  /** Whether options that are not in the list do not exist. */
  readonly #isComplete: boolean;
  list: readonly SessionConfigOption[];

  constructor(edition: ClientSessionEdition, list: readonly SessionConfigOption[], isComplete: boolean) {
    this.#edition = edition;
    this.#isComplete = isComplete;
    this.list = list;
  }

  /** An answer without options changes nothing. */
  opened(list: readonly SessionConfigOption[]): void {
    if (list.length === 0) return;
    this.list = list;
    this.#edition.setOptions(list);
  }

  /** Throws a TypeError where the session has no such option. */
  find(configId: string): SessionConfigOption {
    const option = this.list.find((each) => each.configId === configId);
    if (option !== undefined) return option;
    if (!this.#isComplete) return { configId, name: configId, type: "_json", currentValue: null };
    const known = this.list.map((each) => each.configId).join(", ");
    throw new TypeError(`setConfigOption: the session has no option ${configId}; it has: ${known || "none"}`);
  }

  /** Throws a TypeError where the session has no modes. */
  get mode(): SessionConfigOption {
    const option = this.list.find((each) => each.category === "mode");
    if (option === undefined) throw new TypeError("setMode: the session has no modes");
    return option;
  }

  /** The list after the agent has set an option, and answered with a list or without one; undefined when it is the same. */
  changed(
    configId: string,
    value: JsonValue,
    answered: readonly SessionConfigOption[] | undefined,
  ): readonly SessionConfigOption[] | undefined {
    const after =
      answered === undefined
        ? this.list.map((each) =>
            each.configId === configId ? ({ ...each, currentValue: value } as typeof each) : each,
          )
        : this.#edition.optionsChanged(answered);
    this.#edition.setOptions(after);
    return JSON.stringify(after) === JSON.stringify(this.list) ? undefined : after;
  }
}

/** The options and commands of an answer, as updates for listeners. */
export function announced({ configOptions, availableCommands }: SessionSetup): SessionUpdate[] {
  const updates: SessionUpdate[] = [];
  if (configOptions.length > 0)
    updates.push({ sessionUpdate: "config_option_update", configOptions: [...configOptions] });
  if (availableCommands.length > 0)
    updates.push({ sessionUpdate: "available_commands_update", availableCommands: [...availableCommands] });
  return updates;
}
