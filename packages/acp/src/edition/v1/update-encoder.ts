// From the model's updates to version 1's, for one session. Text chunks pass as they are; everything that
// version 1 cannot say is said as nearly as possible or left out. No clock, no promise.

import type { Update } from "../../model/update.ts";
import type * as wire from "../../wire/v1/types.gen.ts";
import type { ClientFeatures } from "../agent-ops.ts";
import { commandsToV1 } from "./activation.ts";
import { optionsToV1, selectOf } from "./config-options.ts";
import { isV1Content } from "./content.ts";
import { ToolEncoder } from "./tool-encoder.ts";

/** What leaves for one update: usually one, sometimes none or several. */
export type Encoded = wire.SessionUpdate | readonly wire.SessionUpdate[] | undefined;

export class V1UpdateEncoder {
  readonly #features: ClientFeatures;
  #tools: ToolEncoder | undefined;
  /** Messages of which something has been sent: they can grow, but not be replaced. */
  #sent: Set<string> | undefined;
  #mode: string | undefined;

  constructor(features: ClientFeatures) {
    this.#features = features;
  }

  /** The mode that the client knows; a later change is announced by itself too. */
  setMode(mode: string | undefined): void {
    this.#mode = mode;
  }

  /** Terminals of the client may be shown by their id; all others are ours and become text. */
  addClientTerminal(terminalId: string): void {
    this.#toolEncoder().addClientTerminal(terminalId);
  }

  encode(update: Update): Encoded {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
      case "agent_thought_chunk":
      case "user_message_chunk":
        // the same JSON in both versions, but for kinds of content that version 1 does not know
        return isV1Content(update.content) ? (update as wire.SessionUpdate) : undefined;
      case "agent_message":
        return this.#message("agent_message_chunk", update);
      case "agent_thought":
        return this.#message("agent_thought_chunk", update);
      case "user_message":
        return this.#message("user_message_chunk", update);
      case "tool_call_update":
        return this.#toolEncoder().update(update);
      case "tool_call_content_chunk":
        return this.#toolEncoder().chunk(update.toolCallId, update.content);
      case "terminal_update":
      case "terminal_output_chunk":
        return this.#toolEncoder().terminal(update);
      default:
        return this.#rest(update);
    }
  }

  #rest(update: Update): Encoded {
    switch (update.sessionUpdate) {
      case "plan_update":
        return update.plan.type === "items" ? plan(update.plan.entries) : undefined;
      case "plan_removed":
        return plan([]);
      case "available_commands_update":
        return { ...update, availableCommands: commandsToV1(update.availableCommands) };
      case "config_option_update":
        return this.#options(update);
      case "session_info_update":
        return update;
      case "usage_update": {
        const { cost, ...rest } = update;
        return cost == null ? rest : { ...rest, cost };
      }
      case "notice":
        return this.#features.notices ? update : undefined;
      case "compaction_update":
      case "compaction_summary_chunk":
        // content is checked again before it is sent
        return this.#features.compaction ? (update as wire.SessionUpdate) : undefined;
      default:
        // states are what version 1's answers say; anything else has no word there
        return undefined;
    }
  }

  #message(
    sessionUpdate: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk",
    update: { messageId: string; content?: readonly { type: unknown }[] | null },
  ): Encoded {
    const key = `${sessionUpdate} ${update.messageId}`;
    this.#sent ??= new Set();
    if (this.#sent.has(key)) return undefined;
    this.#sent.add(key);
    return (update.content ?? []).filter(isV1Content).map((content) => ({
      sessionUpdate,
      messageId: update.messageId,
      content,
    }));
  }

  #options(update: Extract<Update, { sessionUpdate: "config_option_update" }>): Encoded {
    const options: wire.SessionUpdate = {
      ...update,
      configOptions: optionsToV1(update.configOptions, this.#features.booleanOptions),
    };
    const mode = selectOf(update.configOptions, "mode")?.currentValue;
    if (mode === undefined || mode === this.#mode) return options;
    this.#mode = mode;
    // a client uses modes or options, not both: it gets both, in step (A82)
    return [options, { sessionUpdate: "current_mode_update", currentModeId: mode }];
  }

  #toolEncoder(): ToolEncoder {
    this.#tools ??= new ToolEncoder();
    return this.#tools;
  }
}

function plan(entries: readonly { content: string; priority: string; status: string }[]): wire.SessionUpdate {
  return {
    sessionUpdate: "plan",
    entries: entries.map(({ content, priority, status }) => ({
      content,
      priority: priority === "high" || priority === "low" ? priority : "medium",
      // a cancelled entry will not be worked on any more: completed is as near as version 1 gets
      status: status === "in_progress" || status === "pending" ? status : "completed",
    })),
  };
}
