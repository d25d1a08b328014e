// The lists of the face: modes, models, options and themes.

import type { SessionConfigOption } from "@parley/acp";
import type { JsonValue } from "@parley/acp/model";
import type { Conversation } from "@parley/client/conversation";
import { endsQuestions, modeAllows, unaskedMode } from "../../agents/known-modes.ts";
import { painter, type ThemeName, themeNames } from "../../terminal/paint.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import {
  choiceNamed,
  choicesOf,
  type OptionChoice,
  type SelectOption,
  selectsOf,
  valueName,
} from "../conversation/option-choices.ts";
import { ConfirmSheet } from "../sheets/confirm-sheet.ts";
import { Picker, type PickerItem } from "../sheets/picker.ts";
import type { ChatFace } from "./chat-face.ts";

export class FaceChoices {
  readonly #face: ChatFace;

  constructor(face: ChatFace) {
    this.#face = face;
  }

  /** Opens a list that closes with a choice. */
  pick<T>(title: string, items: readonly PickerItem<T>[], chosen: (value: T) => void, query = ""): void {
    if (items.length === 0) return this.#face.hint(`${title}: none`);
    this.#face.open(
      new Picker<T>({
        title,
        paint: this.#face.paint,
        items,
        query,
        chosen: (value) => {
          this.#close();
          chosen(value);
        },
        closed: this.#close,
        redraw: () => this.#face.redraw(),
      }),
    );
  }

  /** Modes in which nothing is asked are not among those that one key goes through. */
  nextMode(): void {
    const { session } = this.#face;
    const [mode] = selectsOf(session.options, "mode");
    if (mode === undefined) return this.#face.hint(`${session.agent.name} has no modes`);
    const choices = choicesOf(mode);
    const at = choices.findIndex(({ value }) => value === mode.currentValue);
    const others = [...choices.slice(at + 1), ...choices.slice(0, Math.max(0, at))];
    const next = others.find((each) => !endsQuestions(each));
    if (next !== undefined) return this.#set(mode, next.value);
    const [skipped] = others;
    this.#face.hint(
      skipped === undefined
        ? `${session.agent.name} has one mode`
        : `the only other mode is ${safeLine(skipped.name)}, which asks nothing: /mode ${safeLine(skipped.name)}`,
    );
  }

  choose(category: string, name: string): void {
    const [option] = selectsOf(this.#face.session.options, category);
    if (option === undefined)
      return this.#face.hint(`${this.#face.session.agent.name} has no choice of ${category}`);
    if (name === "") return this.#pickValue(option);
    const choice = choiceNamed(option, name);
    if (choice === undefined) return this.#pickValue(option, name);
    this.#set(option, choice.value);
  }

  options(): void {
    const { options } = this.#face.session;
    this.pick(
      "Options",
      options.map((option) => ({
        label: safeLine(option.name),
        detail: `${safeLine(valueName(option))}  ${safeLine(option.description ?? "")}`.trim(),
        value: option,
      })),
      (option) => {
        if (option.type === "boolean") this.#set(option, option.currentValue !== true);
        else if (option.type === "select")
          this.#pickValue(option as SelectOption); // by its type
        else this.#face.hint(`${safeLine(option.name)} is of a kind that this version does not know`);
      },
    );
  }

  #pickValue(option: SelectOption, query = ""): void {
    this.pick(
      safeLine(option.name),
      choicesOf(option).map(({ value, name, description, group }) => ({
        label: safeLine(name),
        detail: safeLine(description ?? ""),
        ...(group === undefined ? {} : { group: safeLine(group) }),
        isCurrent: value === option.currentValue,
        value,
      })),
      (value) => this.#set(option, value),
      query,
    );
  }

  /** A mode in which nothing is asked is asked about once. */
  #set(option: SessionConfigOption, value: JsonValue): void {
    const [mode] = selectsOf([option], "mode");
    const choice = mode && choicesOf(mode).find((each) => each.value === value);
    if (choice === undefined || !endsQuestions(choice) || value === option.currentValue)
      return this.#change(option, value, choice);
    this.#face.open(
      new ConfirmSheet({
        paint: this.#face.paint,
        lines: [unaskedMode(this.#face.session.agent.name, choice.name)],
        ask: "Switch to it?",
        answer: (isYes) => {
          this.#close();
          if (isYes) this.#change(option, value, choice);
        },
      }),
    );
  }

  #change({ configId }: SessionConfigOption, value: JsonValue, mode: OptionChoice | undefined): void {
    const { session } = this.#face;
    const set = session.setOption(configId, value);
    this.#face.attempt(mode === undefined ? set : set.then(() => this.#answer(session, mode)));
  }

  /** A question that the new mode would not have asked is answered; of another one it is said that it waits. */
  #answer({ questions, agent }: Conversation, mode: OptionChoice): void {
    const asked = questions.filter((question) => question.kind === "permission");
    const open = asked.filter(({ question }) => !modeAllows(agent.name, mode, question));
    for (const each of asked) if (!open.includes(each)) each.answer("allow:once");
    if (open.length > 0)
      this.#face.hint(`mode ${safeLine(mode.name)}, but this question still needs your answer`);
  }

  theme(name: string): void {
    const isTheme = (given: string): given is ThemeName => themeNames.some((each) => each === given);
    const use = (theme: ThemeName) => this.#face.usePaint(painter(true, process.env, theme), theme);
    if (isTheme(name)) return use(name);
    const items = themeNames.map((value) => ({ label: value, isCurrent: value === this.#face.theme, value }));
    this.pick("Theme", items, use, name);
  }

  readonly #close = (): void => this.#face.open(undefined);
}
