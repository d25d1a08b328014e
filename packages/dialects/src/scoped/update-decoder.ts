// Says the updates of one session of a dialect's agent in version 1.

import type * as v1 from "@parley/acp/v1";
import { withMetaKeys, withoutMeta } from "../exchange/details.ts";
import { type Fields, metaField } from "../exchange/exchange.ts";
import { detailsKey, optional } from "../exchange/library.ts";
import type * as scoped from "../wire/scoped/types.gen.ts";
import { detailText, dialectDetails, given } from "./details.ts";
import type { ModeNames } from "./modes.ts";
import { type Option, optionOf } from "./options.ts";
import { toolFromScoped, toolUpdateFromScoped } from "./tool-decoder.ts";

export interface DecoderSurroundings {
  readonly now: () => number;
  /** Whether our client has the terminal. */
  readonly isShown: (terminalId: string) => boolean;
}

const chunkKinds = {
  agent_message_chunk: "agent_message_chunk",
  user_message_chunk: "user_message_chunk",
  thought_message_chunk: "agent_thought_chunk",
} as const;

/** The last chunk of a message, if it says nothing but that. */
export function isEndOfMessage({ type, data }: scoped.SessionNotification): boolean {
  if (!type.endsWith("message_chunk")) return false;
  const { content, final, _meta } = data as scoped.MessageChunk; // of these types
  return content === "" && final === true && _meta === undefined;
}

export class UpdateDecoder {
  readonly #around: DecoderSurroundings;
  readonly names: ModeNames;
  options: Option[];
  /** The current mode, by our name. */
  mode: string | undefined;
  #minted = 0;
  readonly #messages = new Map<string, { readonly id: string; isFinal: boolean }>();

  constructor(names: ModeNames, options: readonly Option[], around: DecoderSurroundings) {
    this.names = names;
    this.options = [...options];
    this.#around = around;
  }

  decode(params: scoped.SessionNotification): v1.SessionNotification {
    const { sessionId, timestamp } = params;
    return { sessionId, update: this.#update(params, given({ timestamp })), ...metaField(params) };
  }

  /** Takes in the value of an option, and gives all options. */
  set(key: string, value: unknown): Option[] {
    const at = this.options.findIndex(({ id }) => id === key);
    const option = optionOf(key, value);
    if (at === -1) this.options.push(option);
    else this.options[at] = option;
    return [...this.options];
  }

  #update(params: scoped.SessionNotification, details: Fields): v1.SessionUpdate {
    switch (params.type) {
      case "agent_message_chunk":
      case "user_message_chunk":
      case "thought_message_chunk":
        return this.#chunk(params.type, params.data, details);
      case "tool_call":
        return toolFromScoped(params.data, details);
      case "tool_call_update":
        return toolUpdateFromScoped(params.data, details, this.#around.isShown);
      case "plan":
        return planFromScoped(params.data, details);
      case "available_commands": {
        const availableCommands = params.data.commands.map((command) => {
          const { name, description } = command;
          const hint = detailText(dialectDetails(command)?.["hint"]);
          const input = hint === undefined ? undefined : { hint };
          return { name, description, ...optional({ input }), ...withoutMeta(command, [detailsKey]) };
        });
        return {
          sessionUpdate: "available_commands_update",
          availableCommands,
          ...meta(params.data, details),
        };
      }
      case "current_mode_update": {
        const { previousMode, currentMode, reason } = params.data;
        this.mode = this.names.ours(currentMode);
        this.names.setAs(currentMode);
        const said = { ...details, mode: currentMode, ...given({ previousMode, reason }) };
        return { sessionUpdate: "current_mode_update", currentModeId: this.mode, ...meta(params.data, said) };
      }
      case "config_option_update": {
        const { key, previousValue, currentValue, source } = params.data;
        const said = { ...details, key, ...optional({ previousValue }), ...given({ source }) };
        const configOptions = this.set(key, currentValue);
        return { sessionUpdate: "config_option_update", configOptions, ...meta(params.data, said) };
      }
      default: {
        // of a later document: version 1 shows it as an unknown update
        const { type, data } = params as { type: string; data: unknown };
        return { sessionUpdate: type, data, _meta: { [detailsKey]: details } } as object as v1.SessionUpdate;
      }
    }
  }

  #chunk(type: keyof typeof chunkKinds, chunk: scoped.MessageChunk, details: Fields): v1.SessionUpdate {
    const { content, index, final, visible } = chunk;
    const said = { ...details, ...given({ index, final, visible }) };
    const messageId = this.#messageId(type, chunk);
    return {
      sessionUpdate: chunkKinds[type],
      content: { type: "text", text: content },
      ...optional({ messageId }),
      ...meta(chunk, said),
    };
  }

  /** An index of 0, and what follows a final piece, begin another message. Without them, runs of pieces do. */
  #messageId(type: string, { index, final }: scoped.MessageChunk): string | undefined {
    if (index == null && final == null) return undefined;
    const before = this.#messages.get(type);
    const goesOn = before !== undefined && !before.isFinal && index !== 0;
    const message = goesOn ? before : { id: this.#mint(), isFinal: false };
    message.isFinal = final === true;
    this.#messages.set(type, message);
    return message.id;
  }

  #mint(): string {
    this.#minted += 1;
    return `m-${this.#around.now().toString(36)}-${this.#minted}`;
  }
}

function meta(data: object, details: Fields): { _meta?: v1.Meta } {
  return withMetaKeys(withoutMeta(data, [detailsKey]), { [detailsKey]: details });
}

function planFromScoped(plan: scoped.Plan, details: Fields): v1.SessionUpdate {
  const entries = plan.steps.map((step) => {
    const { id, description, status } = step;
    const priority = dialectDetails(step)?.["priority"];
    const isKnown = status === "pending" || status === "in_progress" || status === "completed";
    // a step that failed or was left out will not be worked on any more
    const shown = isKnown ? status : status == null ? "pending" : "completed";
    const said = { ...given({ id }), ...(isKnown ? {} : { status: status ?? null }) };
    return {
      content: description,
      priority: priority === "high" || priority === "low" ? priority : "medium",
      status: shown,
      ...meta(step, said),
    } as v1.PlanEntry; // the words above are the ones that there are
  });
  return { sessionUpdate: "plan", entries, ...meta(plan, { ...details, ...given({ planId: plan.planId }) }) };
}
