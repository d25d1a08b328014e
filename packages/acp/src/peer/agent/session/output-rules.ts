// Rules for what an app sends that the schema cannot express. Breaking one is a TypeError.

import type { PermissionRequest } from "../../../model/ask.ts";
import type { AvailableCommand, SessionConfigOption } from "../../../model/content.ts";
import type { StopReason } from "../../../model/update.ts";
import type { Failure } from "../../../validation/failure.ts";
import type { UnknownTag } from "../../../validation/unknown-tag.ts";

/** Every stop reason. A missing or an unknown one does not compile. */
const reasons: Readonly<Record<KnownReason, true>> = {
  end_turn: true,
  max_tokens: true,
  max_turn_requests: true,
  refusal: true,
  cancelled: true,
  error: true,
};
type KnownReason = Exclude<StopReason, `_${string}` | UnknownTag>;

/** Ids are unique; a choice has values, none of them twice, and the current one among them. */
export function checkOptions(options: readonly SessionConfigOption[]): void {
  checkUnique("the config options", "configId", options);
  for (const option of options) {
    if (option.type !== "select") continue;
    const where = `the config option ${JSON.stringify(option.configId)}`;
    const values = option.options.flatMap((choice) => ("groupId" in choice ? choice.options : [choice]));
    checkUnique(where, "value", values);
    if (!values.some(({ value }) => value === option.currentValue)) {
      const offered = values.map(({ value }) => JSON.stringify(value)).join(", ");
      const got = JSON.stringify(option.currentValue);
      throw new TypeError(`${where} has the current value ${got}, which is not one of ${offered}`);
    }
  }
}

/** Names are unique, and have no white space and no slash at the beginning. */
export function checkCommands(commands: readonly AvailableCommand[]): void {
  for (const { name } of commands) {
    if (typeof name !== "string" || name === "" || /\s/u.test(name))
      throw new TypeError(`a command's name must be a word without white space, got ${JSON.stringify(name)}`);
    // clients add the slash themselves
    if (name.startsWith("/")) {
      const instead = JSON.stringify(name.slice(1));
      throw new TypeError(`a command's name has no slash: write ${instead}, got ${JSON.stringify(name)}`);
    }
  }
  checkUnique("the commands", "name", commands);
}

/** There is something to choose, and an answer names one option. */
export function checkPermission({ options }: PermissionRequest): void {
  if (options.length === 0) throw new TypeError("a permission needs at least one option");
  checkUnique("the options of a permission", "optionId", options);
}

/** Version 1 may leave out what every client needs. */
export function checkForm(schema: { readonly type?: unknown; readonly properties?: unknown }): void {
  const { type, properties } = schema;
  if (type !== "object" || typeof properties !== "object" || properties === null)
    throw new TypeError('the requestedSchema of a form must have the type "object" and properties');
}

/** A URL is shown, so it must not contain a secret. */
export function checkElicitationUrl(url: string): void {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new TypeError(
      `the url of an elicitation must be absolute, got ${JSON.stringify(url.slice(0, 200))}`,
    );
  }
  if (parsed.username !== "" || parsed.password !== "")
    throw new TypeError("the url of an elicitation must have no user name and no password in it");
}

/** `update "notice": /severity must be "info", "warning" or "error", got "fatal"` */
export function describeWrong(what: string, { path, expected, got }: Failure): string {
  return `${what}: ${path === "" ? "it" : path} must be ${expected}, got ${got}`;
}

export function checkStopReason(reason: string): void {
  if (reason.startsWith("_") || Object.hasOwn(reasons, reason)) return;
  const known = Object.keys(reasons).join(", ");
  throw new TypeError(
    `a stop reason must be ${known}, or begin with "_"; got ${JSON.stringify(reason.slice(0, 200))}`,
  );
}

function checkUnique<Key extends string>(
  where: string,
  key: Key,
  items: readonly { readonly [key in Key]?: unknown }[],
): void {
  const seen = new Set<unknown>();
  for (const item of items) {
    if (seen.has(item[key]))
      throw new TypeError(`${where} have the ${key} ${JSON.stringify(item[key])} twice`);
    seen.add(item[key]);
  }
}
