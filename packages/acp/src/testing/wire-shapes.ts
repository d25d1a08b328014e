// The shapes that scenarios of agents and clients share.

import {
  completeCommands,
  completeConfigOptions,
  type OutgoingCommand,
  type OutgoingConfigOption,
} from "../model/outgoing.ts";
import * as validate from "../model/validators.gen.ts";
import { unstableFeatures } from "../validation/unstable-features.ts";
import {
  anything,
  asInTheModel,
  count,
  either,
  fields,
  flag,
  listOf,
  object,
  oneOf,
  text,
  whole,
} from "./shape.ts";

export const contentBlock = asInTheModel("a content block", validate.ContentBlock);
export const textOrBlock = either(text, contentBlock);
export const planEntries = listOf(asInTheModel("a plan entry", validate.PlanEntry));
export const permissionOptions = listOf(asInTheModel("an option of a question", validate.PermissionOption));
export const configOptions = listOf(
  asInTheModel("a config option", (value, mode) => {
    const [option] = completeConfigOptions([value as OutgoingConfigOption]); // checked next
    return validate.SessionConfigOption(option, mode);
  }),
);
export const commandList = listOf(
  asInTheModel("a command", (value, mode) => {
    const [command] = completeCommands([value as OutgoingCommand]); // checked next
    return validate.AvailableCommand(command, mode);
  }),
);
export const authMethodList = listOf(asInTheModel("a way to log in", validate.AuthMethod));
export const exitStatus = asInTheModel("an exit status", validate.ExitStatus);
export const tokenUsage = asInTheModel("the tokens of a turn", validate.Usage);
export const formSchema = asInTheModel("the schema of a form", validate.ElicitationSchema);

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
  locations: listOf(asInTheModel("a location", validate.ToolCallLocation)),
  rawInput: anything,
  content: listOf(object, "a list of tool call contents"),
};

export const flagsOf = (wanted: string, ...names: readonly string[]) =>
  fields(wanted, Object.fromEntries(names.map((name) => [name, flag])));
