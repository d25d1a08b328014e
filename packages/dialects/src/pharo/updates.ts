// The updates of a session. A message of the dialect is a list of blocks, in version 1 each block is a chunk.

import { detailsOf, withDetails, withoutDetails } from "../exchange/details.ts";
import { type Fields, type Lost, metaField } from "../exchange/exchange.ts";
import { isObject, optional } from "../exchange/library.ts";
import type { SessionUpdate, ToolCall, ToolCallUpdate } from "../wire/pharo/types.gen.ts";
import { blockToPharo, blockToV1, given, toolContentToPharo, toolContentToV1 } from "./content.ts";

/** The ids that messages of the dialect get begin so. They mean nothing to it. */
export const madeUpMessage = "parley:message:";

/** The updates of version 1 that say the same. `newId` makes the id of a message, which the dialect does not have. */
export function updateToV1(update: SessionUpdate, newId: () => string): Fields[] {
  switch (update.type) {
    case "message": {
      const { messageId = newId() } = detailsOf(update);
      const sessionUpdate = update.role === "user" ? "user_message_chunk" : "agent_message_chunk";
      return update.content.map((block, index) => ({
        sessionUpdate,
        messageId: String(messageId),
        content: blockToV1(block),
        ...(index === 0 ? withoutDetails(update, ["messageId"]) : {}),
      }));
    }
    case "tool_call":
    case "tool_call_update":
      return [{ sessionUpdate: update.type, ...toolToV1(update) }];
    case "plan": {
      const { type, entries, ...rest } = update;
      // the document names plans and does not say what is in them
      const all = entries.map((entry) => ({ priority: "medium", status: "pending", ...entry }));
      return [{ sessionUpdate: type, entries: all, ...rest }];
    }
    case "available_commands_update": {
      const { type, availableCommands, ...rest } = update;
      const all = availableCommands.map((command) => ({ description: "", ...command }));
      return [{ sessionUpdate: type, availableCommands: all, ...rest }];
    }
    case "current_mode_update": {
      const { type, modeId, ...rest } = update;
      return [{ sessionUpdate: type, currentModeId: modeId, ...rest }];
    }
    default: {
      // of a newer peer: the validators of a client let it pass
      const { type, ...rest } = update as { readonly type: string };
      return [{ sessionUpdate: type, ...rest }];
    }
  }
}

function toolToV1(tool: ToolCall | ToolCallUpdate): Fields {
  const { toolCallId, title, kind, status, location, content } = tool;
  return {
    toolCallId,
    ...optional({
      title,
      kind,
      status,
      locations: location === undefined ? undefined : [location],
      content: content?.map(toolContentToV1),
    }),
    ...metaField(tool),
  };
}

/** Undefined for an update that the dialect cannot express, which is reported. */
export function updateToPharo(update: Fields, lost: Lost): Fields | undefined {
  const type = update["sessionUpdate"];
  switch (type) {
    case "user_message_chunk":
    case "agent_message_chunk": {
      const block = isObject(update["content"]) ? blockToPharo(update["content"], lost) : undefined;
      if (block === undefined) return undefined;
      const role = type === "user_message_chunk" ? "user" : "agent";
      const id = update["messageId"];
      const messageId = typeof id === "string" && !id.startsWith(madeUpMessage) ? id : undefined;
      return { type: "message", role, content: [block], ...withDetails(update, { messageId }) };
    }
    case "agent_thought_chunk":
      lost("a thought: the dialect has messages and tool calls only");
      return undefined;
    case "tool_call":
      return { type, content: [], ...toolToPharo(update, lost) };
    case "tool_call_update":
      return { type, ...toolToPharo(update, lost) };
    case "plan": {
      const entries = Array.isArray(update["entries"]) ? update["entries"].map(given) : [];
      return { type, entries, ...metaField(update) };
    }
    case "available_commands_update": {
      const list = update["availableCommands"];
      const availableCommands = Array.isArray(list) ? list.map((each: Fields) => commandToPharo(each)) : [];
      return { type, availableCommands, ...metaField(update) };
    }
    case "current_mode_update":
      return { type, modeId: update["currentModeId"], ...metaField(update) };
    default:
      lost(`an update of type ${String(type)}`);
      return undefined;
  }
}

function commandToPharo(command: Fields): Fields {
  const { input } = command;
  return { ...given(command), ...(isObject(input) ? { input: given(input) } : {}) };
}

const kinds = new Set(["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"]);

function toolToPharo(tool: Fields, lost: Lost): Fields {
  const { toolCallId, title, kind, status, locations, content } = tool;
  for (const field of ["name", "rawInput", "rawOutput"])
    if (tool[field] !== undefined && tool[field] !== null) lost(`the ${field} of a tool call`);
  const places: readonly Fields[] = Array.isArray(locations) ? locations : [];
  if (places.length > 1) lost("all places of a tool call but the first");
  return given({
    toolCallId,
    title,
    kind: typeof kind === "string" ? kindToPharo(kind, lost) : undefined,
    status,
    location: places[0] === undefined ? undefined : given(places[0]),
    content: Array.isArray(content)
      ? content.flatMap((item: Fields) => toolContentToPharo(item, lost) ?? [])
      : undefined,
    ...metaField(tool),
  });
}

function kindToPharo(kind: string, lost: Lost): string {
  if (kinds.has(kind)) return kind;
  lost(`the kind ${kind} of a tool call: it is shown as other`);
  return "other";
}
