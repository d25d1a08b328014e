// The types of what an app sends where they differ from what it receives, and the functions that complete it.

import { isObject } from "../base/objects.ts";
import type {
  AvailableCommand,
  AvailableCommandInput,
  AvailableCommandsUpdate,
  ConfigOptionUpdate,
  McpServer,
  McpServerStdio,
  PlanItems,
  PlanUpdate,
  PlanUpdateContent,
  SessionConfigOption,
  SessionUpdate,
  SlashCommand,
  TextCommandInput,
  UnknownUpdate,
} from "./types.gen.ts";

/** The input of a command to offer. */
export type OutgoingCommandInput =
  | (TextCommandInput & { readonly type?: "text" })
  | Exclude<AvailableCommandInput, { readonly type: "text" }>;

/** A slash command to offer. Without a `type` it is a plain command. */
export type OutgoingCommand =
  | (Omit<SlashCommand, "input"> & { readonly type?: "command"; readonly input?: OutgoingCommandInput })
  | Exclude<AvailableCommand, { readonly type: "command" }>;

/** An option to offer. Without a `type` it is a choice between values, or an on/off option if its value is a boolean. */
export type OutgoingConfigOption =
  | (Omit<Extract<SessionConfigOption, { readonly type: "select" }>, "type"> & { readonly type?: "select" })
  | (Omit<Extract<SessionConfigOption, { readonly type: "boolean" }>, "type"> & { readonly type?: "boolean" })
  | Exclude<SessionConfigOption, { readonly type: "select" | "boolean" }>;

/** An MCP server for the agent to use. Without a `type` it is a command that uses stdio. */
export type OutgoingMcpServer =
  | (McpServerStdio & { readonly type?: "stdio" })
  | Exclude<McpServer, { readonly type: "stdio" }>;

/** A plan to show. Without a `type` it is a list of entries. */
export type OutgoingPlan =
  | (PlanItems & { readonly type?: "items" })
  | Exclude<PlanUpdateContent, { readonly type: "items" }>;

/** A custom update. Only v2 clients receive it. */
export interface CustomUpdate {
  /** The kind of the update; its name begins with `_`. */
  readonly sessionUpdate: `_${string}`;
  /** Custom fields; plain JSON. */
  readonly [key: string]: unknown;
}

/**
 * An update that an agent sends: one of the protocol's kinds, or a custom kind whose name begins with `_`. It cannot be a
 * state update, because the library sends those.
 */
export type OutgoingUpdate =
  | Exclude<
      SessionUpdate,
      | UnknownUpdate
      | {
          readonly sessionUpdate:
            | "state_update"
            | "available_commands_update"
            | "config_option_update"
            | "plan_update";
        }
    >
  | (Omit<AvailableCommandsUpdate, "availableCommands"> & {
      readonly sessionUpdate: "available_commands_update";
      readonly availableCommands: readonly OutgoingCommand[];
    })
  | (Omit<ConfigOptionUpdate, "configOptions"> & {
      readonly sessionUpdate: "config_option_update";
      readonly configOptions: readonly OutgoingConfigOption[];
    })
  | (Omit<PlanUpdate, "plan"> & { readonly sessionUpdate: "plan_update"; readonly plan: OutgoingPlan })
  | CustomUpdate;

/** The update with the types that were left out. What is not valid is left to the validators. */
export function completeUpdate(update: OutgoingUpdate): SessionUpdate {
  const given: { readonly sessionUpdate?: unknown } | null | undefined = update; // callers may have no types
  const kind = given?.sessionUpdate;
  // as, in each case: by now it has what the model demands, or is refused later
  if (typeof kind === "string" && kind.startsWith("_")) return customUpdate(update as CustomUpdate);
  if (kind === "available_commands_update") {
    const { availableCommands } = update as { availableCommands: readonly OutgoingCommand[] };
    return { ...update, availableCommands: completeCommands(availableCommands) } as SessionUpdate;
  }
  if (kind === "config_option_update") {
    const { configOptions } = update as { configOptions: readonly OutgoingConfigOption[] };
    return { ...update, configOptions: completeConfigOptions(configOptions) } as SessionUpdate;
  }
  if (kind === "plan_update") {
    return { ...update, plan: withType((update as { plan: unknown }).plan, "items") } as SessionUpdate;
  }
  return update as SessionUpdate;
}

/** The form in which a client receives it. */
function customUpdate(raw: CustomUpdate): UnknownUpdate {
  return { sessionUpdate: raw.sessionUpdate, unknown: true, raw };
}

export function completeCommands(commands: readonly OutgoingCommand[]): readonly AvailableCommand[] {
  const complete = (command: OutgoingCommand): unknown => {
    const typed = withType(command, "command");
    if (!isObject(typed) || typed["type"] !== "command" || typed["input"] === undefined) return typed;
    return { ...typed, input: withType(typed["input"], "text") };
  };
  // as: by now they have their types, or are refused later
  return (Array.isArray(commands) ? commands.map(complete) : commands) as readonly AvailableCommand[];
}

export function completeConfigOptions(
  options: readonly OutgoingConfigOption[],
): readonly SessionConfigOption[] {
  const complete = (option: OutgoingConfigOption): unknown => {
    const given: unknown = option; // callers may have no types
    return withType(
      given,
      isObject(given) && typeof given["currentValue"] === "boolean" ? "boolean" : "select",
    );
  };
  // as above
  return (Array.isArray(options) ? options.map(complete) : options) as readonly SessionConfigOption[];
}

export function completeServers(servers: readonly OutgoingMcpServer[]): readonly McpServer[] {
  const complete = (server: OutgoingMcpServer): unknown => withType(server, "stdio");
  // as above
  return (Array.isArray(servers) ? servers.map(complete) : servers) as readonly McpServer[];
}

function withType(value: unknown, type: string): unknown {
  return isObject(value) && value["type"] === undefined ? { ...value, type } : value;
}
