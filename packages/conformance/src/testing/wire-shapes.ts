// The shapes that scenarios of agents and clients share.

import { unstableFeatures } from "@parley/acp/internal";
import { isObject } from "@parley/acp/jsonrpc";
import {
  anything,
  count,
  either,
  fields,
  flag,
  listOf,
  object,
  ofSchema,
  oneOf,
  text,
  whole,
} from "./shape.ts";

export const contentBlock = ofSchema("a content block", "ContentBlock");
export const textOrBlock = either(text, contentBlock);
export const planEntries = listOf(ofSchema("a plan entry", "PlanEntry"));
export const permissionOptions = listOf(ofSchema("an option of a question", "PermissionOption"));
export const permissionAsk = ofSchema("a question", "RequestPermissionRequest", inAnySession);
export const elicitationAsk = ofSchema("a form or an address", "CreateElicitationRequest", inAnySession);
export const configOptions = listOf(
  ofSchema("a config option", "SessionConfigOption", (option) => {
    return { type: typeof option["currentValue"] === "boolean" ? "boolean" : "select", ...option };
  }),
);
export const commandList = listOf(
  ofSchema("a command", "AvailableCommand", ({ input, ...command }) => {
    return { type: "command", ...command, ...(isObject(input) && { input: { type: "text", ...input } }) };
  }),
);
export const authMethodList = listOf(ofSchema("a way to log in", "AuthMethod"));
export const exitStatus = ofSchema("an exit status", "TerminalExitStatus");
export const tokenUsage = ofSchema("the tokens of a turn", "Usage");
export const notice = ofSchema("a notice", "Notice");
export const contextUsage = ofSchema("how full the context is", "UsageUpdate");

function inAnySession(ask: object): object {
  return { sessionId: "any", ...ask };
}

export const encoding = oneOf("utf-8", "utf-16le", "latin1", "ascii", "base64", "hex");

export const editions = listOf(
  either(oneOf("v1", "v2"), object),
  'a list of editions: "v1", "v2" and dialects',
);
export const unstable = either(oneOf("*"), listOf(oneOf(...unstableFeatures), "a list of unstable features"));
export const rawMessage = either(text, object, listOf(anything, "a batch"));

export const scriptedError = fields("an error with code and message", {
  "code!": whole,
  "message!": text,
  data: anything,
});

export const crash = fields("how it dies", { exitCode: whole, signal: text, half: text });

const rawMessages = listOf(rawMessage);

export const wireRules = fields("rules for the wire", {
  greeting: rawMessages,
  replies: listOf(
    fields("a rule for the answers to one method", {
      "method!": text,
      nth: count,
      before: rawMessages,
      after: rawMessages,
      error: scriptedError,
      result: anything,
      patch: object,
      answer: oneOf("never", "twice", "no-id", "text-id"),
    }),
  ),
  sends: listOf(
    fields("a rule for what is sent of one method", { "method!": text, nth: count, "patch!": object }),
  ),
  inputs: listOf(
    fields("a rule for what comes in", {
      "when!": either(oneOf("batch", "broken"), fields("a part of its text", { "contains!": text })),
      write: rawMessages,
      crash,
    }),
  ),
});

/** Fields that a tool call may have; its content may be of either version. */
export const toolFields = {
  kind: text,
  name: text,
  locations: listOf(ofSchema("a location", "ToolCallLocation")),
  rawInput: anything,
  content: listOf(object, "a list of tool call contents"),
};

export const flagsOf = (wanted: string, ...names: readonly string[]) =>
  fields(wanted, Object.fromEntries(names.map((name) => [name, flag])));
