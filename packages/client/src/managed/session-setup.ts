// Sets the mode, model and options that a session begins with.

import type { ClientSession, SessionConfigOption } from "@parley/acp";
import { optionValue } from "@parley/acp/internal";
import type { JsonValue } from "@parley/acp/model";
import type { SessionSetup } from "../agents/agent-spec.ts";
import { problemOf } from "./problem.ts";

/** A part of a setup that could not be set. */
export interface SetupProblem {
  /** "mode", "model", or "option" and its name. */
  readonly what: string;
  readonly why: "not_offered" | "refused";
  readonly message: string;
}

interface Wanted {
  readonly what: string;
  readonly candidates: readonly SessionConfigOption[];
  readonly value: JsonValue;
}

/**
 * Sets the options that differ, and returns the problems. When the options equal those that were `remembered` from another
 * process, the agent may not have reported its own: then all of them are set.
 */
export async function applySetup(
  session: ClientSession,
  setup: SessionSetup,
  remembered: readonly SessionConfigOption[],
): Promise<readonly SetupProblem[]> {
  const isRemembered =
    remembered.length > 0 && JSON.stringify(session.configOptions) === JSON.stringify(remembered);
  const problems: SetupProblem[] = [];
  // one by one: setting an option may change others
  for (const find of wanted(setup)) {
    const problem = await apply(session, find(session.configOptions), isRemembered);
    if (problem !== undefined) problems.push(problem);
  }
  return problems;
}

function wanted({ mode, model, options = {} }: SessionSetup) {
  const ofCategory = (category: string, value: string) => (all: readonly SessionConfigOption[]) => ({
    what: category,
    candidates: all.filter((option) => option.category === category),
    value,
  });
  return [
    ...(mode === undefined ? [] : [ofCategory("mode", mode)]),
    ...(model === undefined ? [] : [ofCategory("model", model)]),
    ...Object.entries(options).map(
      ([key, value]) =>
        (all: readonly SessionConfigOption[]): Wanted => ({
          what: `option ${key}`,
          candidates: named(all, key),
          value,
        }),
    ),
  ];
}

function named(all: readonly SessionConfigOption[], key: string): readonly SessionConfigOption[] {
  const byId = all.filter((option) => option.configId === key);
  if (byId.length > 0) return byId;
  const byCategory = all.filter((option) => option.category === key);
  if (byCategory.length > 0) return byCategory;
  return all.filter((option) => option.name.toLowerCase() === key.toLowerCase());
}

async function apply(
  session: ClientSession,
  { what, candidates, value }: Wanted,
  isRemembered: boolean,
): Promise<SetupProblem | undefined> {
  const problem = (why: SetupProblem["why"], words: string) => ({ what, why, message: `${what} ${words}` });
  if (candidates.length === 0) {
    const known = session.configOptions.map((option) => option.configId).join(", ");
    return problem("not_offered", `cannot be set: this agent has no such option; it has: ${known || "none"}`);
  }
  for (const option of candidates) {
    const found = offeredValue(option, value);
    if (found === undefined) continue;
    if (JSON.stringify(optionValue(option)) === JSON.stringify(found) && !isRemembered) return undefined;
    try {
      await session.setConfigOption(option.configId, found);
      return undefined;
    } catch (error) {
      return problem("refused", `was not set to ${shown(found)}: ${problemOf(error).message}`);
    }
  }
  const offered = candidates.flatMap(choicesOf).map((choice) => choice.value);
  const choices = offered.join(", ").slice(0, 500) || "true, false";
  return problem("not_offered", `has no value ${shown(value)}; it has: ${choices}`);
}

function shown(value: JsonValue): string {
  return (typeof value === "string" ? value : JSON.stringify(value)).slice(0, 100);
}

/** Any JSON value. What was typed as text is read as JSON where the option has no text. */
function jsonValue(current: JsonValue | undefined, value: JsonValue): JsonValue {
  if (typeof value !== "string" || typeof current === "string") return value;
  try {
    return JSON.parse(value) as JsonValue; // what JSON gives
  } catch {
    return value;
  }
}

/** The matching value of the option. Where ids are addresses, their last part is enough. */
function offeredValue(option: SessionConfigOption, value: JsonValue): JsonValue | undefined {
  if (option.type === "_json") return jsonValue(optionValue(option), value);
  if (option.type === "boolean") {
    if (typeof value !== "string") return typeof value === "boolean" ? value : undefined;
    if (/^(?:true|on|yes)$/i.test(value)) return true;
    return /^(?:false|off|no)$/i.test(value) ? false : undefined;
  }
  const text = String(value);
  const choices = choicesOf(option);
  const same = (one: string | undefined) => one?.toLowerCase() === text.toLowerCase();
  return (
    choices.find((choice) => choice.value === text) ??
    choices.find((choice) => same(choice.value) || same(choice.name)) ??
    choices.find((choice) => /^https?:/.test(choice.value) && same(choice.value.split(/[#/]/).at(-1)))
  )?.value;
}

function choicesOf(
  option: SessionConfigOption,
): readonly { readonly value: string; readonly name: string }[] {
  if (option.type !== "select") return [];
  // as: an unknown kind of option has the same type of tag
  const { options } = option as Extract<SessionConfigOption, { type: "select" }>;
  return options.flatMap((choice) => ("groupId" in choice ? choice.options : [choice]));
}
