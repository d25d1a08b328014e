// The lists of the face: modes, models, options and themes.

import type { JsonValue } from "@parley/acp/model";
import { painter, type ThemeName, themeNames } from "../../terminal/paint.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import { choiceNamed, choicesOf, type SelectOption, selectsOf } from "../conversation/option-choices.ts";
import { Picker, type PickerItem } from "../sheets/picker.ts";
import type { ChatFace } from "./chat-face.ts";

export class FaceChoices {
  readonly #face: ChatFace;

  constructor(face: ChatFace) {
    this.#face = face;
  }

  /** Opens a list that closes with a choice. */
  pick<T>(title: string, items: readonly PickerItem<T>[], chosen: (value: T) => void): void {
    if (items.length === 0) return this.#face.hint(`${title}: none`);
    this.#face.open(
      new Picker<T>({
        title,
        paint: this.#face.paint,
        items,
        chosen: (value) => {
          this.#close();
          chosen(value);
        },
        closed: this.#close,
        redraw: () => this.#face.redraw(),
      }),
    );
  }

  nextMode(): void {
    const [mode] = selectsOf(this.#face.session.options, "mode");
    if (mode === undefined) return this.#face.hint(`${this.#face.session.agent.name} has no modes`);
    const choices = choicesOf(mode);
    const at = choices.findIndex(({ value }) => value === mode.currentValue);
    const next = choices[(at + 1) % choices.length];
    if (next !== undefined) this.#set(mode.configId, next.value);
  }

  choose(category: string, name: string): void {
    const [option] = selectsOf(this.#face.session.options, category);
    if (option === undefined)
      return this.#face.hint(`${this.#face.session.agent.name} has no choice of ${category}`);
    if (name === "") return this.#pickValue(option);
    const choice = choiceNamed(option, name);
    if (choice === undefined) return this.#pickValue(option);
    this.#set(option.configId, choice.value);
  }

  options(): void {
    const { options } = this.#face.session;
    this.pick(
      "Options",
      options.map((option) => ({
        label: safeLine(option.name),
        detail:
          `${safeLine(String(option.currentValue ?? ""))}  ${safeLine(option.description ?? "")}`.trim(),
        value: option,
      })),
      (option) => {
        if (option.type === "boolean") this.#set(option.configId, option.currentValue !== true);
        else if (option.type === "select")
          this.#pickValue(option as SelectOption); // by its type
        else this.#face.hint(`${safeLine(option.name)} is of a kind that this version does not know`);
      },
    );
  }

  #pickValue(option: SelectOption): void {
    this.pick(
      safeLine(option.name),
      choicesOf(option).map(({ value, name, description, group }) => ({
        label: safeLine(name),
        detail: safeLine(description ?? ""),
        ...(group === undefined ? {} : { group: safeLine(group) }),
        isCurrent: value === option.currentValue,
        value,
      })),
      (value) => this.#set(option.configId, value),
    );
  }

  #set(configId: string, value: JsonValue): void {
    this.#face.attempt(this.#face.session.setOption(configId, value));
  }

  theme(name: string): void {
    const isTheme = (given: string): given is ThemeName => themeNames.some((each) => each === given);
    const use = (theme: ThemeName) => {
      this.#face.paint = painter(true, process.env, theme);
    };
    if (isTheme(name)) return use(name);
    this.pick(
      "Theme",
      themeNames.map((value) => ({ label: value, value })),
      use,
    );
  }

  readonly #close = (): void => this.#face.open(undefined);
}
