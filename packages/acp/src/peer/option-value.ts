// What a client may choose: a value that the option offers.

import { RequestError, rpcCodes } from "../jsonrpc/errors.ts";
import type { SessionConfigOption } from "../model/content.ts";

/** The value as the option offers it. Throws -32602 for anything else, and nothing is changed (A79). */
export function checkOptionValue(
  options: readonly SessionConfigOption[],
  configId: string,
  value: string | boolean,
): SessionConfigOption {
  const option = options.find((each) => each.configId === configId);
  const wrong = (message: string) =>
    new RequestError(rpcCodes.invalidParams, message, { reason: "invalid_params", path: "/configId" });
  if (option === undefined) throw wrong("this session has no such option");
  if (option.type === "boolean") {
    if (typeof value !== "boolean") throw wrong("the option takes true or false");
    return { ...option, currentValue: value };
  }
  if (option.type !== "select") throw wrong("the option cannot be set");
  const offered = option.options.flatMap((choice) => ("groupId" in choice ? choice.options : [choice]));
  if (typeof value !== "string" || !offered.some((choice) => choice.value === value)) {
    throw wrong(`the option takes one of: ${offered.map((choice) => choice.value).join(", ")}`.slice(0, 500));
  }
  return { ...option, currentValue: value };
}
