// Says the updates of one session in the dialect.

import type * as v1 from "@parley/acp/v1";
import { withoutMeta } from "../exchange/details.ts";
import { metaField } from "../exchange/exchange.ts";
import { detailsKey, isDateTime, isObject, optional } from "../exchange/library.ts";
import type * as scoped from "../wire/scoped/types.gen.ts";
import { placeholder } from "./content.ts";
import { booleanOf, countOf, detailText, dialectDetails, metaWithDetails } from "./details.ts";
import { ModeNames } from "./modes.ts";
import { type Option, optionValue, withoutModes } from "./options.ts";
import { type Said, ToolEncoder, type ToolSurroundings } from "./tool-encoder.ts";

type Chunk = Extract<
  v1.SessionUpdate,
  { sessionUpdate: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk" }
>;

const chunkTypes = {
  agent_message_chunk: "agent_message_chunk",
  user_message_chunk: "user_message_chunk",
  agent_thought_chunk: "thought_message_chunk",
} as const;

type Kind = keyof typeof chunkTypes;

/** The end of a streamed message. */
function lastChunk(kind: Kind, index: number): Said {
  return { type: chunkTypes[kind], data: { content: "", index, final: true } };
}

export interface Surroundings extends ToolSurroundings {
  /** False where the agent said that it does not stream: a message is sent when it is whole. */
  readonly streams: () => boolean;
}

/** The params of one `session/update`. */
type Params = Omit<scoped.SessionNotification, "type" | "data"> & Said;

export class UpdateEncoder {
  readonly #sessionId: string;
  readonly #around: Surroundings;
  readonly tools: ToolEncoder;
  names = new ModeNames();
  /** The mode that the client knows, by its name there. */
  mode: string | undefined;
  /** A change of mode that was told before the agent told it. */
  #told: string | undefined;
  options: readonly Option[] = [];
  /** The keys of the options that the client is setting. */
  readonly setByClient = new Set<string>();
  /** The keys of the options that the client has set to true or false. */
  readonly switched = new Set<string>();
  /** How many messages were sent, for the answer to `session/load`. */
  messages = 0;
  #message = "";
  /** The next index of each kind's message. */
  readonly #indices = new Map<Kind, { readonly message: string; next: number }>();
  #gathered: { readonly message: string; readonly type: string; text: string } | undefined;

  constructor(sessionId: string, around: Surroundings) {
    this.#sessionId = sessionId;
    this.#around = around;
    this.tools = new ToolEncoder(around);
  }

  encode({ update, _meta }: v1.SessionNotification): Params[] {
    const details = dialectDetails(update);
    const stamp = details === undefined ? this.#now() : timeOf(details["timestamp"]);
    const envelope = {
      sessionId: this.#sessionId,
      ...optional({ timestamp: stamp }),
      ...metaField({ _meta }),
    };
    const said = this.#said(update).map((each) => ({ ...envelope, ...each }));
    return [...(this.#continues(update) ? [] : this.flush()), ...said];
  }

  /** An update that has no agent behind it. */
  own(said: readonly Said[]): Params[] {
    return [
      ...this.flush(),
      ...said.map((each) => ({ sessionId: this.#sessionId, ...each, timestamp: this.#now() })),
    ];
  }

  /** The value as the client says it. */
  valueOf(option: Option): unknown {
    return optionValue(option, this.switched.has(option.id));
  }

  /** The mode has changed by a request. It is told unless the agent has told it. */
  modeSet(mode: string): Params[] {
    const previousMode = this.mode ?? "default";
    if (mode === this.mode) return [];
    this.mode = mode;
    this.#told = mode;
    return this.own([{ type: "current_mode_update", data: { previousMode, currentMode: mode } }]);
  }

  /** A new turn begins: messages are counted anew. */
  turnBegan(): void {
    this.#indices.clear();
    this.tools.isCancelling = false;
  }

  /** The messages are over: what is gathered is sent, and the last chunk of each that was streamed. */
  messagesOver(): Params[] {
    const last = [...this.#indices].map(([kind, { next }]) => lastChunk(kind, next));
    this.#indices.clear();
    return [...this.flush(), ...this.own(last)];
  }

  /** What is gathered of a message. */
  flush(): Params[] {
    const whole = this.#gathered;
    this.#gathered = undefined;
    if (whole === undefined) return [];
    const data = { content: whole.text, index: 0, final: true };
    return [{ sessionId: this.#sessionId, type: whole.type, data, timestamp: this.#now() }];
  }

  #now(): string {
    return new Date(this.#around.now()).toISOString();
  }

  #continues(update: v1.SessionUpdate): boolean {
    return isChunk(update) && this.#gathered?.message === messageOf(update);
  }

  #said(update: v1.SessionUpdate): Said[] {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
      case "agent_thought_chunk":
      case "user_message_chunk":
        return this.#chunk(update);
      case "tool_call":
      case "tool_call_update":
        this.#message = "";
        return this.tools.encode(update);
      case "plan":
        return [{ type: "plan", data: planToScoped(update) }];
      case "available_commands_update":
        return [{ type: "available_commands", data: commandsToScoped(update) }];
      case "current_mode_update":
        return this.#modeUpdate(update);
      case "config_option_update":
        return this.#optionUpdate(update);
      default:
        return this.#other(update);
    }
  }

  #chunk(update: Chunk): Said[] {
    const message = messageOf(update);
    if (message !== this.#message && update.sessionUpdate !== "agent_thought_chunk") this.messages += 1;
    this.#message = message;
    const { content } = update;
    if (content.type !== "text") this.#around.lost(`content of type ${String(content.type)} in a message`);
    const text = content.type === "text" ? content.text : placeholder(content);
    const type = chunkTypes[update.sessionUpdate];
    if (!this.#around.streams()) return this.#gather(message, type, text);
    const details = dialectDetails(update);
    const isOwn = details === undefined;
    // one that came from the dialect, whose end our side has not been told
    const isOpen = isOwn || details["final"] === false;
    const before = isOpen ? this.#begin(update.sessionUpdate, message) : [];
    const counted = isOpen ? this.#index(update.sessionUpdate, message) : undefined;
    const index = isOwn ? counted : countOf(details["index"]);
    const data = {
      content: text,
      ...optional({
        index,
        final: isOwn ? false : booleanOf(details["final"]),
        visible: booleanOf(details?.["visible"]),
      }),
      ...withoutMeta(update, [detailsKey]),
    };
    return [...before, { type, data }];
  }

  /**
   * A message ends where another of its kind or of the other side begins, or with the turn: only then it is known which chunk
   * was the last.
   */
  #begin(kind: Kind, message: string): Said[] {
    const isUsers = kind === "user_message_chunk";
    return [...this.#indices].flatMap(([each, before]) => {
      const isOver = each === kind ? before.message !== message : isUsers || each === "user_message_chunk";
      if (!isOver) return [];
      this.#indices.delete(each);
      return [lastChunk(each, before.next)];
    });
  }

  #gather(message: string, type: string, text: string): Said[] {
    // a message before it is sent by `encode`, which looks whether this one goes on with it
    if (this.#gathered?.message === message) {
      this.#gathered.text += text;
      return [];
    }
    const before = this.flush();
    this.#gathered = { message, type, text };
    return before.map(({ type: kind, data }) => ({ type: kind, data }));
  }

  #index(kind: Kind, message: string): number {
    const known = this.#indices.get(kind);
    const counter = known?.message === message ? known : { message, next: 0 };
    this.#indices.set(kind, counter);
    return counter.next++;
  }

  #modeUpdate(update: v1.CurrentModeUpdate): Said[] {
    const details = dialectDetails(update);
    const currentMode = detailText(details?.["mode"]) ?? this.names.theirs(update.currentModeId);
    const isTold = this.#told === currentMode;
    this.#told = undefined;
    const isKnown = details === undefined && this.mode === currentMode;
    const before = this.mode ?? "default";
    this.mode = currentMode;
    if (isTold || isKnown) return [];
    const previousMode = details === undefined ? before : detailText(details["previousMode"]);
    const reason = detailText(details?.["reason"]);
    const data = { currentMode, ...optional({ previousMode, reason }), ...withoutMeta(update, [detailsKey]) };
    return [{ type: "current_mode_update", data }];
  }

  /** Version 1 says all options, the dialect each that has changed. */
  #optionUpdate(update: v1.ConfigOptionUpdate): Said[] {
    const before = new Map(this.options.map((option) => [option.id, this.valueOf(option)]));
    const details = dialectDetails(update);
    this.options = withoutModes(update.configOptions);
    const meta = withoutMeta(update, [detailsKey]);
    const named = detailText(details?.["key"]);
    const changed = this.options.filter((option) =>
      named === undefined
        ? !before.has(option.id) || !isSame(before.get(option.id), this.valueOf(option))
        : option.id === named,
    );
    return changed.map((option) => {
      const key = option.id;
      const previous =
        details !== undefined && Object.hasOwn(details, "previousValue")
          ? details["previousValue"]
          : undefined;
      const own = this.setByClient.has(key) ? "user" : "agent";
      const source = details === undefined ? own : detailText(details["source"]);
      const previousValue = details === undefined ? before.get(key) : previous;
      const data = {
        key,
        currentValue: this.valueOf(option),
        ...optional({ previousValue, source }),
        ...meta,
      };
      return { type: "config_option_update", data };
    });
  }

  /** An update that the document does not have passes if it came from the dialect. */
  #other(update: v1.SessionUpdate): Said[] {
    const { sessionUpdate, data } = update as { sessionUpdate: string; data?: unknown }; // of any kind
    if (dialectDetails(update) !== undefined && isObject(data)) return [{ type: sessionUpdate, data }];
    this.#around.lost(`the update ${sessionUpdate}, which the dialect scoped does not have`);
    return [];
  }
}

/** The document wants ISO 8601 with an offset. */
function timeOf(value: unknown): string | undefined {
  return typeof value === "string" && isDateTime(value) ? value : undefined;
}

function isChunk(update: v1.SessionUpdate): update is Chunk {
  return update.sessionUpdate in chunkTypes;
}

function messageOf(update: Chunk): string {
  return `${update.sessionUpdate} ${update.messageId ?? ""}`;
}

/** Two values of JSON. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function planToScoped(update: v1.Plan): scoped.Plan {
  const details = dialectDetails(update);
  const steps = update.entries.map((entry, index) => {
    const { content, priority, status } = entry;
    const own = dialectDetails(entry);
    const isOwn = own === undefined;
    const shown = isOwn
      ? status
      : (detailText(own["status"]) ?? (own["status"] === null ? undefined : status));
    return {
      description: content,
      ...optional({ id: isOwn ? `step_${index + 1}` : detailText(own["id"]), status: shown }),
      ...(isOwn
        ? metaWithDetails(entry, { priority: priority === "medium" ? undefined : priority })
        : withoutMeta(entry, [detailsKey])),
    };
  });
  const planId = details === undefined ? "main" : detailText(details["planId"]);
  return { steps, ...optional({ planId }), ...withoutMeta(update, [detailsKey]) };
}

function commandsToScoped(update: v1.AvailableCommandsUpdate): scoped.AvailableCommands {
  const commands = update.availableCommands.map((command) => {
    const { name, description, input } = command;
    const rest = withoutMeta(command, [detailsKey]);
    return { name, description, ...metaWithDetails(rest, { hint: input?.hint }) };
  });
  return { commands, ...withoutMeta(update, [detailsKey]) };
}
