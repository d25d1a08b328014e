// Checks the value that a client sets an option to.

import { invalidParams } from "../../jsonrpc/invalid-params.ts";
import type { SessionConfigOption } from "../../model/content.ts";

/** The option with its new value. Throws -32602 for a value that it does not offer (A79). */
export function checkOptionValue(
  options: readonly SessionConfigOption[],
  configId: string,
  value: string | boolean,
  /** Where the request has the value. */
  path = "/value",
): SessionConfigOption {
  const option = options.find((each) => each.configId === configId);
  const wrong = (message: string, where: string) => invalidParams(message.slice(0, 500), where);
  if (option === undefined) {
    const ids = options.map((each) => each.configId).join(", ");
    throw wrong(`the session has no option ${quoted(configId)}; it has: ${ids || "none"}`, "/configId");
  }
  if (option.type === "boolean") {
    if (typeof value !== "boolean") {
      throw wrong(`the option ${configId} takes true or false, got ${quoted(value)}`, path);
    }
    return { ...option, currentValue: value };
  }
  if (option.type !== "select") throw wrong(`the option ${configId} cannot be set`, "/configId");
  const offered = option.options.flatMap((choice) => ("groupId" in choice ? choice.options : [choice]));
  if (typeof value !== "string" || !offered.some((choice) => choice.value === value)) {
    const values = offered.map((choice) => choice.value).join(", ");
    throw wrong(`the option ${configId} takes one of: ${values}; got ${quoted(value)}`, path);
  }
  return { ...option, currentValue: value };
}

function quoted(value: string | boolean): string {
  return JSON.stringify(typeof value === "string" ? value.slice(0, 80) : value);
}
