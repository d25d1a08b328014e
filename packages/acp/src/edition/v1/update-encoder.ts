// Encodes the updates of one session for version 1. What it cannot express becomes the nearest thing, or is left out.

import type { PlainToolCall } from "../../model/plain-tool-call.ts";
import type { SessionUpdate, UpdateOf } from "../../model/update.ts";
import type * as wire from "../../wire/v1/types.gen.ts";
import type { ClientCapabilities, Lost } from "../agent-edition.ts";
import { bothMeta, lostMeta, metaOf } from "../wire-fields.ts";
import { commandsToV1 } from "./activation.ts";
import { optionsToV1, selectOf } from "./config-options.ts";
import { contentToV1, ToolEncoder } from "./tool-encoder.ts";

interface PlanEntry {
  readonly content: string;
  readonly priority: string;
  readonly status: string;
  readonly _meta?: wire.Meta;
}

type Messages = UpdateOf<"agent_message" | "agent_thought" | "user_message">;

export type Encoded = wire.SessionUpdate | readonly wire.SessionUpdate[] | undefined;

export class V1UpdateEncoder {
  readonly #features: ClientCapabilities;
  readonly #takesJson: boolean;
  #tools: ToolEncoder | undefined;
  /** Messages that have been sent in part: they can grow, but not be replaced. */
  #sent: Set<string> | undefined;
  #plans: Map<string, wire.PlanEntry[]> | undefined;
  #mode: string | undefined;

  constructor(features: ClientCapabilities, takesJson = false) {
    this.#features = features;
    this.#takesJson = takesJson;
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
        return this.#chunk(update, lost);
      case "agent_message":
        return this.#message("agent_message_chunk", update, lost);
      case "agent_thought":
        return this.#message("agent_thought_chunk", update, lost);
      case "user_message":
        return this.#message("user_message_chunk", update, lost);
      case "tool_call_update":
        return this.#toolEncoder().update(update, lost);
      case "tool_call_content_chunk":
        return this.#toolEncoder().chunk(update, lost);
      case "terminal_update":
      case "terminal_output_chunk":
        return this.#toolEncoder().terminal(update, lost);
      default:
        return this.#rest(update, lost);
    }
  }

  encodeJson(update: SessionUpdate, json: string): string | undefined {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
      case "agent_thought_chunk":
      case "user_message_chunk":
        return contentToV1(update.content) === update.content ? json : undefined;
      case "tool_call_update":
        return this.#toolEncoder().updateJson(update, json);
      default:
        return undefined;
    }
  }

  encodeToolCall(call: PlainToolCall): string | undefined {
    return this.#toolEncoder().plainCall(call);
  }

  /** The same JSON in both versions, but for content that version 1 does not know. */
  #chunk(update: SessionUpdate & { content: { readonly type: unknown } }, lost?: Lost): Encoded {
    const content = contentToV1(update.content);
    // as: of a kind that both versions have
    if (content !== undefined)
      return (content === update.content ? update : { ...update, content }) as wire.SessionUpdate;
    lost?.(`content of type ${String(update.content.type)}`);
    return undefined;
  }

  #rest(update: SessionUpdate, lost?: Lost): Encoded {
    switch (update.sessionUpdate) {
      case "plan_update":
        return this.#plan(update, lost);
      case "plan_removed":
        // as: checked again before it is sent
        if (this.#features.plans) return update as wire.SessionUpdate;
        this.#plans?.delete(update.planId);
        return this.#allPlans(metaOf(update));
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
        return this.#options(update, lost);
      case "session_info_update":
        return update;
      case "usage_update": {
        const { cost, ...rest } = update;
        return cost === null ? rest : (update as wire.SessionUpdate); // a cost of null is none
      }
      case "notice":
        if (this.#features.notices) return update;
        lost?.(`the notice "${update.title}", which the client does not show`);
        return undefined;
      case "compaction_update":
      case "compaction_summary_chunk":
        if (this.#features.compaction) return this.#compaction(update, lost);
        lost?.("a compaction of the conversation, which the client does not show");
        return undefined;
      case "state_update":
        // states are what version 1's answers say, the custom data of the last one included
        if (update.state !== "idle") lostMeta(update, `the state ${update.state}`, lost);
        if (Array.isArray(update.background) && update.background.length > 0)
          lost?.("work in the background");
        return undefined;
      default:
        lost?.(`the update ${String((update as { sessionUpdate: unknown }).sessionUpdate)}`);
        return undefined;
    }
  }

  #compaction(update: UpdateOf<"compaction_update" | "compaction_summary_chunk">, lost?: Lost): Encoded {
    if (update.sessionUpdate === "compaction_summary_chunk") return this.#chunk(update, lost);
    const { summary: given, ...rest } = update;
    if (given == null) return update as wire.SessionUpdate; // alike in both versions
    const summary = given.flatMap((block) => contentToV1(block) ?? []);
    if (summary.length < given.length) lost?.("content of kinds that version 1 does not know");
    return { ...rest, summary };
  }

  /** One piece for each block of content. The first one has the custom data of the message. */
  #message(
    sessionUpdate: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk",
    { sessionUpdate: _, content: given, ...rest }: Messages,
    lost?: Lost,
  ): Encoded {
    const key = `${sessionUpdate} ${rest.messageId}`;
    this.#sent ??= new Set();
    if (this.#sent.has(key)) {
      if (given !== undefined) lost?.("the new text of a message that had been sent");
      lostMeta(rest, "a message that had been sent", lost);
      return undefined;
    }
    this.#sent.add(key);
    const blocks: readonly { readonly type: unknown }[] = given ?? [];
    const content = blocks.flatMap((block) => contentToV1(block) ?? []);
    if (content.length < blocks.length) lost?.("content of kinds that version 1 does not know");
    if (content.length === 0) lostMeta(rest, "a message without content", lost);
    const { messageId } = rest;
    return content.map((block, i) => ({
      ...(i === 0 ? rest : { messageId }),
      sessionUpdate,
      content: block,
    }));
  }

  #options(update: UpdateOf<"config_option_update">, lost?: Lost): Encoded {
    const options: wire.SessionUpdate = {
      ...update,
      configOptions: optionsToV1(
        update.configOptions,
        { knowsBooleans: this.#features.booleanOptions, knowsJson: this.#takesJson },
        lost,
      ),
    };
    const mode = selectOf(update.configOptions, "mode")?.currentValue;
    if (mode === undefined || mode === this.#mode) return options;
    this.#mode = mode;
    // a client uses modes or options, not both: it gets both, in step (A82)
    return [options, { sessionUpdate: "current_mode_update", currentModeId: mode }];
  }

  /** Version 1 has one plan: several are shown as one, in the order in which they came. */
  #plan(update: UpdateOf<"plan_update">, lost?: Lost): Encoded {
    const given: { type: unknown; planId: string; entries?: unknown; content?: unknown; uri?: unknown } =
      update.plan;
    if (this.#features.plans && planTypes.has(given.type)) return planToV1(update, lost);
    const meta = bothMeta(given, update);
    if (given.type !== "items") {
      const text = given.type === "markdown" ? given.content : given.type === "file" ? given.uri : undefined;
      if (typeof text !== "string") {
        lost?.(`a plan of type ${String(given.type)}`);
        return undefined;
      }
      lost?.("a plan document is shown as one entry");
      this.#plans ??= new Map();
      this.#plans.set(given.planId, [{ content: text, priority: "medium", status: "in_progress" }]);
      return this.#allPlans(meta);
    }
    const entries = given.entries as readonly PlanEntry[]; // what a plan of this type has
    if (lost !== undefined && entries.some(({ status }) => status === "cancelled"))
      lost("a cancelled plan entry is shown as completed");
    this.#plans ??= new Map();
    this.#plans.set(given.planId, v1Entries(entries));
    return this.#allPlans(meta);
  }

  #allPlans(meta: { _meta?: wire.Meta }): wire.SessionUpdate {
    return { sessionUpdate: "plan", entries: [...(this.#plans?.values() ?? [])].flat(), ...meta };
  }

  #toolEncoder(): ToolEncoder {
    this.#tools ??= new ToolEncoder({ showsTerminals: this.#features.terminalOutput });
    return this.#tools;
  }
}

/** The kinds of plan that version 1 has. */
const planTypes: ReadonlySet<unknown> = new Set(["items", "markdown", "file"]);

/** For a client that shows several plans. */
function planToV1(update: UpdateOf<"plan_update">, lost?: Lost): Encoded {
  const { plan } = update;
  if (plan.type !== "items") return update as wire.SessionUpdate; // checked again before it is sent
  if (lost !== undefined && plan.entries.some(({ status }) => status === "cancelled"))
    lost("a cancelled plan entry is shown as completed");
  return { ...update, plan: { ...plan, entries: v1Entries(plan.entries) } };
}

/** The messages of subagents may have content that version 1 does not know. */
function subagentToV1(
  update: UpdateOf<"subagent_update" | "session_message" | "session_message_chunk">,
  lost?: Lost,
): Encoded {
  if (update.sessionUpdate === "session_message_chunk") {
    const content = contentToV1(update.content);
    if (content === undefined) lost?.(`content of type ${String(update.content.type)}`);
    return content && { ...update, content };
  }
  if (update.sessionUpdate === "subagent_update" && update.state != null && "background" in update.state) {
    lost?.("work of a subagent in the background");
    const { background: _, ...state } = update.state;
    return { ...update, state } as wire.SessionUpdate; // checked again before it is sent
  }
  if (update.sessionUpdate !== "session_message" || update.content == null)
    return update as wire.SessionUpdate; // as above
  const content = update.content.flatMap((block) => contentToV1(block) ?? []);
  if (content.length < update.content.length) lost?.("content of kinds that version 1 does not know");
  return { ...update, content } as wire.SessionUpdate; // as above
}

function v1Entries(entries: readonly PlanEntry[]): wire.PlanEntry[] {
  return entries.map(({ priority, status, ...rest }) => ({
    ...rest,
    priority: priority === "high" || priority === "low" ? priority : "medium",
    // a cancelled entry will not be worked on any more: completed is as near as version 1 gets
    status: status === "in_progress" || status === "pending" ? status : "completed",
  }));
}
