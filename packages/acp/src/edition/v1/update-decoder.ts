// Decodes version 1's updates of one session in place.

import type { SessionConfigOption } from "../../model/content.ts";
import type { SessionUpdate, ToolCallContent, ToolCallUpdate } from "../../model/update.ts";
import { stableUpdateTags, unstableUpdateTags } from "../../wire/v1/methods.gen.ts";
import type * as wire from "../../wire/v1/types.gen.ts";
import { commandsFromV1 } from "./activation.ts";
import { modeConfigId, modelConfigId, modeOption, optionsFromV1 } from "./config-options.ts";

type Chunk = Extract<wire.SessionUpdate, { sessionUpdate: "agent_message_chunk" }>;

const progress = ["pending", "in_progress", "completed", "failed"];

export class V1UpdateDecoder {
  /** Version 1 may leave message ids out: a run of chunks of one kind is one message. */
  #run = "";
  #runId = "";
  /** The turn is over, and nothing else has come: more of the same goes on with the last message. */
  #isTail = false;
  /** Random: a session goes on in other processes, and an agent must not guess the ids of messages. */
  readonly #mark = crypto.randomUUID().slice(0, 8);
  #minted = 0;
  /** How far each tool call has come: a late announcement must not set it back. */
  #progress: Map<string, number> | undefined;
  options: readonly SessionConfigOption[] = [];

  decode(update: wire.SessionUpdate): SessionUpdate {
    if (this.#isTail && update.sessionUpdate !== this.#run) this.endRun();
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
      case "agent_thought_chunk":
      case "user_message_chunk":
        return this.#chunk(update);
      case "tool_call":
      case "tool_call_update":
        this.#run = "";
        return this.#tool(update);
      case "plan":
        return {
          sessionUpdate: "plan_update",
          plan: { type: "items", planId: "main", entries: update.entries },
          ...(update._meta == null ? {} : { _meta: update._meta }),
        };
      case "available_commands_update":
        return { ...update, availableCommands: commandsFromV1(update.availableCommands) };
      case "current_mode_update":
        return this.#mode(update.currentModeId);
      case "config_option_update":
        this.options = this.withStandIns(optionsFromV1(update.configOptions));
        return { ...update, configOptions: [...this.options] };
      default:
        return known(update) ? (update as SessionUpdate) : unknown(update);
    }
  }

  /** The next chunk belongs to another message. */
  endRun(): void {
    this.#run = "";
    this.#isTail = false;
  }

  /** The turn is over. Some agents answer before the last of their text, which belongs to the same message. */
  endTurn(): void {
    this.#isTail = true;
  }

  mintMessageId(): string {
    this.#minted++;
    // an agent that names only some of its messages must not hit upon the same
    return `unnamed-${this.#mark}-${this.#minted}`;
  }

  #chunk(
    update:
      | Chunk
      | Extract<wire.SessionUpdate, { sessionUpdate: "user_message_chunk" | "agent_thought_chunk" }>,
  ): SessionUpdate {
    if (typeof update.messageId === "string") this.#run = "";
    else {
      if (this.#run !== update.sessionUpdate) {
        this.#run = update.sessionUpdate;
        this.#runId = this.mintMessageId();
      }
      update.messageId = this.#runId;
    }
    return update as SessionUpdate; // with its message id it is version 2's
  }

  #tool(
    update: Extract<wire.SessionUpdate, { sessionUpdate: "tool_call" | "tool_call_update" }>,
  ): SessionUpdate {
    const tool = update as Extract<SessionUpdate, { sessionUpdate: "tool_call_update" }> &
      Record<string, unknown>;
    toolFromV1(tool);
    const announced = update.sessionUpdate === "tool_call";
    if (announced) (tool as { sessionUpdate: string }).sessionUpdate = "tool_call_update";
    if (tool.status !== undefined || announced) this.#advance(tool, announced);
    return tool;
  }

  #advance(tool: { toolCallId: string; status?: string | null }, announced: boolean): void {
    this.#progress ??= new Map();
    const before = this.#progress.get(tool.toolCallId) ?? -1;
    const now = progress.indexOf(tool.status ?? "pending");
    // seen on real wires: announced again as pending after it had started (docs/rules.md, C27)
    if (announced && now < before) delete tool.status;
    else if (now >= 0) this.#progress.set(tool.toolCallId, now);
  }

  #mode(currentModeId: string): SessionUpdate {
    let found = false;
    this.options = this.options.map((option) => {
      if (found || option.category !== "mode" || option.type !== "select") return option;
      found = true;
      return { ...option, currentValue: currentModeId };
    });
    if (!found) this.options = [modeOption(currentModeId, []), ...this.options];
    return { sessionUpdate: "config_option_update", configOptions: [...this.options] };
  }

  /** An agent that lists its options without its mode and models still has those that its session began with. */
  withStandIns(options: readonly SessionConfigOption[]): readonly SessionConfigOption[] {
    const kept = this.options.filter(
      ({ configId, category }) =>
        (configId === modeConfigId || configId === modelConfigId) &&
        !options.some((option) => option.category === category),
    );
    return kept.length === 0 ? options : [...kept, ...options];
  }
}

const nullable = [
  "kind",
  "status",
  "title",
  "name",
  "content",
  "locations",
  "rawInput",
  "rawOutput",
  "_meta",
] as const;

/** Makes a tool call of version 1, in an update or in a question, the model's own. */
export function toolFromV1(tool: ToolCallUpdate): void {
  // null means "no change" in version 1, but "clear" in the model
  for (const key of nullable) if (tool[key] === null) delete tool[key];
  for (const item of tool.content ?? []) if (item.type === "diff") addChanges(item);
}

/** The same change in the terms of version 2; the texts stay beside it. */
function addChanges(diff: Extract<ToolCallContent, { type: "diff" }>): void {
  const { path, oldText } = diff;
  if (typeof path !== "string") return;
  diff.changes = [{ operation: oldText == null ? "add" : "modify", path }];
}

function known(update: wire.SessionUpdate): boolean {
  return stableUpdateTags.has(update.sessionUpdate) || unstableUpdateTags.has(update.sessionUpdate);
}

function unknown(raw: wire.SessionUpdate): SessionUpdate {
  // any string may be the tag of an unknown update
  return { sessionUpdate: raw.sessionUpdate as never, unknown: true, raw };
}
