// Encodes the updates of one session for version 1. What it cannot express becomes the nearest thing, or is left out.

import type { SessionUpdate } from "../../model/update.ts";
import type * as wire from "../../wire/v1/types.gen.ts";
import type { ClientCapabilities, Lost } from "../agent-edition.ts";
import { commandsToV1 } from "./activation.ts";
import { optionsToV1, selectOf } from "./config-options.ts";
import { isV1Content, ToolEncoder } from "./tool-encoder.ts";

interface PlanEntry {
  readonly content: string;
  readonly priority: string;
  readonly status: string;
}

export type Encoded = wire.SessionUpdate | readonly wire.SessionUpdate[] | undefined;

export class V1UpdateEncoder {
  readonly #features: ClientCapabilities;
  #tools: ToolEncoder | undefined;
  /** Messages that have been sent in part: they can grow, but not be replaced. */
  #sent: Set<string> | undefined;
  #plans: Map<string, wire.PlanEntry[]> | undefined;
  #mode: string | undefined;

  constructor(features: ClientCapabilities) {
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

  encode(update: SessionUpdate, lost?: Lost): Encoded {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
      case "agent_thought_chunk":
      case "user_message_chunk":
        // the same JSON in both versions, but for kinds of content that version 1 does not know
        if (isV1Content(update.content)) return update as wire.SessionUpdate;
        lost?.(`content of type ${String(update.content.type)}`);
        return undefined;
      case "agent_message":
        return this.#message("agent_message_chunk", update, lost);
      case "agent_thought":
        return this.#message("agent_thought_chunk", update, lost);
      case "user_message":
        return this.#message("user_message_chunk", update, lost);
      case "tool_call_update":
        return this.#toolEncoder().update(update, lost);
      case "tool_call_content_chunk":
        return this.#toolEncoder().chunk(update.toolCallId, update.content, lost);
      case "terminal_update":
      case "terminal_output_chunk":
        return this.#toolEncoder().terminal(update, lost);
      default:
        return this.#rest(update, lost);
    }
  }

  #rest(update: SessionUpdate, lost: Lost | undefined): Encoded {
    switch (update.sessionUpdate) {
      case "plan_update":
        return this.#plan(update, lost);
      case "plan_removed":
        // as: checked again before it is sent
        return this.#features.plans ? (update as wire.SessionUpdate) : this.#removePlan(update.planId);
      case "subagent_update":
      case "session_message":
      case "session_message_chunk":
        if (this.#features.subagents) return subagentToV1(update, lost);
        lost?.(`the update ${update.sessionUpdate}, which the client does not show`);
        return undefined;
      case "available_commands_update": {
        const availableCommands = commandsToV1(update.availableCommands);
        if (lost !== undefined && availableCommands.length < update.availableCommands.length)
          lost("commands of kinds that version 1 does not know");
        return { ...update, availableCommands };
      }
      case "config_option_update":
        return this.#options(update);
      case "session_info_update":
        return update;
      case "usage_update": {
        const { cost, ...rest } = update;
        return cost == null ? rest : { ...rest, cost };
      }
      case "notice":
        if (this.#features.notices) return update;
        lost?.(`the notice "${update.title}", which the client does not show`);
        return undefined;
      case "compaction_update":
      case "compaction_summary_chunk":
        // content is checked again before it is sent
        if (this.#features.compaction) return update as wire.SessionUpdate;
        lost?.("a compaction of the conversation, which the client does not show");
        return undefined;
      case "state_update":
        // states are what version 1's answers say
        if (Array.isArray(update.background) && update.background.length > 0)
          lost?.("work in the background");
        return undefined;
      default:
        lost?.(`the update ${String((update as { sessionUpdate: unknown }).sessionUpdate)}`);
        return undefined;
    }
  }

  #message(
    sessionUpdate: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk",
    update: { messageId: string; content?: readonly { type: unknown }[] | null },
    lost: Lost | undefined,
  ): Encoded {
    const key = `${sessionUpdate} ${update.messageId}`;
    this.#sent ??= new Set();
    if (this.#sent.has(key)) {
      if (update.content !== undefined) lost?.("the new text of a message that had been sent");
      return undefined;
    }
    this.#sent.add(key);
    const content = (update.content ?? []).filter(isV1Content);
    if (content.length < (update.content?.length ?? 0))
      lost?.("content of kinds that version 1 does not know");
    return content.map((content) => ({
      sessionUpdate,
      messageId: update.messageId,
      content,
    }));
  }

  #options(update: Extract<SessionUpdate, { sessionUpdate: "config_option_update" }>): Encoded {
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

  /** Version 1 has one plan: several are shown as one, in the order in which they came. */
  #plan(update: Extract<SessionUpdate, { sessionUpdate: "plan_update" }>, lost: Lost | undefined): Encoded {
    const given: { type: unknown; planId: string; entries?: unknown; content?: unknown; uri?: unknown } =
      update.plan;
    if (this.#features.plans && planTypes.has(given.type)) return planToV1(update, lost);
    if (given.type !== "items") {
      const text = given.type === "markdown" ? given.content : given.type === "file" ? given.uri : undefined;
      if (typeof text !== "string") {
        lost?.(`a plan of type ${String(given.type)}`);
        return undefined;
      }
      lost?.("a plan document is shown as one entry");
      this.#plans ??= new Map();
      this.#plans.set(given.planId, [{ content: text, priority: "medium", status: "in_progress" }]);
      return this.#allPlans();
    }
    const entries = given.entries as readonly PlanEntry[]; // what a plan of this type has
    if (lost !== undefined && entries.some(({ status }) => status === "cancelled"))
      lost("a cancelled plan entry is shown as completed");
    this.#plans ??= new Map();
    this.#plans.set(given.planId, v1Entries(entries));
    return this.#allPlans();
  }

  #removePlan(planId: string): Encoded {
    this.#plans?.delete(planId);
    return this.#allPlans();
  }

  #allPlans(): wire.SessionUpdate {
    return { sessionUpdate: "plan", entries: [...(this.#plans?.values() ?? [])].flat() };
  }

  #toolEncoder(): ToolEncoder {
    this.#tools ??= new ToolEncoder({ showsTerminals: this.#features.terminalOutput });
    return this.#tools;
  }
}

/** The kinds of plan that version 1 has. */
const planTypes: ReadonlySet<unknown> = new Set(["items", "markdown", "file"]);

/** For a client that shows several plans. */
function planToV1(
  update: Extract<SessionUpdate, { sessionUpdate: "plan_update" }>,
  lost: Lost | undefined,
): Encoded {
  const { plan } = update;
  if (plan.type !== "items") return update as wire.SessionUpdate; // checked again before it is sent
  if (lost !== undefined && plan.entries.some(({ status }) => status === "cancelled"))
    lost("a cancelled plan entry is shown as completed");
  return { ...update, plan: { ...plan, entries: v1Entries(plan.entries) } };
}

/** The messages of subagents may have content that version 1 does not know. */
function subagentToV1(
  update: Extract<
    SessionUpdate,
    { sessionUpdate: "subagent_update" | "session_message" | "session_message_chunk" }
  >,
  lost: Lost | undefined,
): Encoded {
  if (update.sessionUpdate === "session_message_chunk" && !isV1Content(update.content)) {
    lost?.(`content of type ${String(update.content.type)}`);
    return undefined;
  }
  if (update.sessionUpdate === "subagent_update" && update.state != null && "background" in update.state) {
    lost?.("work of a subagent in the background");
    const { background: _, ...state } = update.state;
    return { ...update, state } as wire.SessionUpdate; // checked again before it is sent
  }
  if (update.sessionUpdate !== "session_message" || update.content == null)
    return update as wire.SessionUpdate; // as above
  const content = update.content.filter(isV1Content);
  if (content.length < update.content.length) lost?.("content of kinds that version 1 does not know");
  return { ...update, content } as wire.SessionUpdate; // as above
}

function v1Entries(entries: readonly PlanEntry[]): wire.PlanEntry[] {
  return entries.map(({ content, priority, status }) => ({
    content,
    priority: priority === "high" || priority === "low" ? priority : "medium",
    // a cancelled entry will not be worked on any more: completed is as near as version 1 gets
    status: status === "in_progress" || status === "pending" ? status : "completed",
  }));
}
