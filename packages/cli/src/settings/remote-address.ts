// The address of a remote agent that was typed, with its headers.

import type { RemoteSpec } from "@parley/client";
import { type Invocation, usageError } from "../command/command.ts";
import { assignment, listOption } from "../command/option-values.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { givenToken, tokenHeader } from "./token-source.ts";

/** `--header` counts more than the token. Throws a CommandError. */
export function addressEntry(url: string, values: Invocation["values"]): RemoteSpec {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^(?:https?|wss?):$/.test(parsed.protocol))
    throw usageError(
      `expected an address such as https://agents.example.org/acp, got ${escapedLine(url)}`,
      "give the address that parley serve has printed",
    );
  const headers = Object.fromEntries(
    listOption(values, "header").map((given) => assignment("header", given)),
  );
  const hasOwn = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  return { url, headers: { ...(hasOwn ? {} : tokenHeader(givenToken(values))), ...headers } };
}
