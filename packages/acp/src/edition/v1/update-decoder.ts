// Decodes version 1's updates of one session in place.

import { toBase64 } from "../../base/base64.ts";
import { isObject, optional } from "../../base/objects.ts";
import { completeDecoded } from "../../model/complete-diff.ts";
import type { PlanEntry, SessionConfigOption } from "../../model/content.ts";
import type { SessionUpdate, ToolCallUpdate } from "../../model/update.ts";
import { isAbsolutePath } from "../../validation/failure.ts";
import { lists, type UnstableFeatures } from "../../validation/unstable-features.ts";
import { stableUpdateTags, unstableUpdateTags } from "../../wire/v1/methods.gen.ts";
import type * as wire from "../../wire/v1/types.gen.ts";
import type { ClientSessionSink } from "../client-edition.ts";
import type { MessageNames } from "../message-names.ts";
import { commandsFromV1 } from "./activation.ts";
import { modeConfigId, modelConfigId, modeOption, optionsFromV1 } from "./config-options.ts";

type Chunk = Extract<
  wire.SessionUpdate,
  { sessionUpdate: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk" }
>;

/** What the decoder of a session holds, as JSON. */
export interface UpdateDecoderState {
  readonly run: string;
  readonly runId: string;
  readonly isTail: boolean;
  readonly hasHistory: boolean;
  readonly options: readonly SessionConfigOption[];
  readonly terminals?: TerminalMetaState;
}

export class V1UpdateDecoder {
  /** Version 1 may leave message ids out: a run of chunks of one kind is one message. */
  #run = "";
  #runId = "";
  /** The turn is over, and nothing else has come: more of the same goes on with the last message. */
  #isTail = false;
  readonly #names: MessageNames;
  /** A message has come since a replay began. */
  #hasHistory = false;
  options: readonly SessionConfigOption[] = [];
  #terminalMeta: TerminalMeta | undefined;
  /** Updates of terminals that the last update carried. They follow it. */
  readonly terminals: SessionUpdate[] = [];
  readonly #unstable: UnstableFeatures;

  constructor(unstable: UnstableFeatures, names: MessageNames, state?: UpdateDecoderState) {
    this.#unstable = unstable;
    this.#names = names;
    if (state === undefined) return;
    this.#run = state.run;
    this.#runId = state.runId;
    this.#isTail = state.isTail;
    this.#hasHistory = state.hasHistory;
    this.options = state.options;
    this.#terminalMeta = state.terminals && new TerminalMeta(state.terminals);
  }

  get state(): UpdateDecoderState {
    return {
      run: this.#run,
      runId: this.#runId,
      isTail: this.#isTail,
      hasHistory: this.#hasHistory,
      options: this.options,
      ...(this.#terminalMeta && { terminals: this.#terminalMeta.state }),
    };
  }

  decode(update: wire.SessionUpdate, { toolCalls }: Pick<ClientSessionSink, "toolCalls">): SessionUpdate {
    if (this.#isTail && update.sessionUpdate !== this.#run) this.endRun();
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
      case "agent_thought_chunk":
      case "user_message_chunk":
        return this.#chunk(update);
      case "tool_call":
      case "tool_call_update":
        this.#run = "";
        return this.#tool(update, toolCalls);
      case "plan": {
        const { entries, ...rest } = update;
        // as: validated by the method's row
        const plan = { type: "items", planId: "main", entries: entries as readonly PlanEntry[] };
        return { ...rest, sessionUpdate: "plan_update", plan } as SessionUpdate;
      }
      case "available_commands_update":
        commandsFromV1(update.availableCommands);
        return update as object as SessionUpdate; // with their types they are version 2's
      case "current_mode_update":
        return this.#mode(update);
      case "config_option_update":
        this.options = this.withStandIns(optionsFromV1(update.configOptions));
        return { ...update, configOptions: [...this.options] } as SessionUpdate; // as above
      default:
        return this.#isKnown(update) ? (update as SessionUpdate) : unknown(update);
    }
  }

  #isKnown({ sessionUpdate: tag }: wire.SessionUpdate): boolean {
    return stableUpdateTags.has(tag) || lists(this.#unstable, unstableUpdateTags.get(tag));
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

  mintMessageId(kind: Chunk["sessionUpdate"]): string {
    return this.#names.next(kind.replace(/_chunk$/, ""));
  }

  /** A history may come, from its beginning, or has come. */
  setReplaying(replaying: boolean): void {
    this.endRun();
    if (replaying) this.#names.beginReplay();
    else this.#names.endReplay({ hasCome: this.#hasHistory });
    this.#hasHistory = false;
  }

  #chunk(update: Chunk): SessionUpdate {
    this.#hasHistory = true;
    if (typeof update.messageId === "string") this.#run = "";
    else {
      if (this.#run !== update.sessionUpdate) {
        this.#run = update.sessionUpdate;
        this.#runId = this.mintMessageId(update.sessionUpdate);
      }
      update.messageId = this.#runId;
    }
    return update as SessionUpdate; // with its message id it is version 2's
  }

  #tool(
    update: Extract<wire.SessionUpdate, { sessionUpdate: "tool_call" | "tool_call_update" }>,
    calls: ClientSessionSink["toolCalls"],
  ): SessionUpdate {
    toolFromV1(update);
    this.#terminalMeta ??= new TerminalMeta();
    for (const each of this.#terminalMeta.take(update)) this.terminals.push(each);
    const { sessionUpdate, toolCallId, status } = update;
    if (sessionUpdate === "tool_call") {
      // seen on real wires: announced again as pending after it had started (docs/rules.md, C27)
      if (status != null && calls.isBeyond(toolCallId, status)) delete update.status;
      (update as { sessionUpdate: string }).sessionUpdate = "tool_call_update";
    }
    return update as SessionUpdate; // by now it is version 2's
  }

  #mode({ currentModeId, ...rest }: wire.CurrentModeUpdate): SessionUpdate {
    let found = false;
    this.options = this.options.map((option) => {
      if (found || option.category !== "mode" || option.type !== "select") return option;
      found = true;
      return { ...option, currentValue: currentModeId };
    });
    if (!found) this.options = [modeOption({ currentModeId, availableModes: [] }), ...this.options];
    const configOptions = [...this.options];
    return { ...rest, sessionUpdate: "config_option_update", configOptions } as SessionUpdate; // as above
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

/** Makes a tool call of version 1, in an update or in a question, the model's own. */
export function toolFromV1(tool: wire.ToolCallUpdate): ToolCallUpdate {
  // null means "no change" in version 1, but "clear" in the model; the validator has removed it elsewhere
  if (tool.rawInput === null) delete tool.rawInput;
  if (tool.rawOutput === null) delete tool.rawOutput;
  // by now it is version 2's, except for diffs, which get their changes and their patch here
  completeDecoded(tool.content as ToolCallUpdate["content"]);
  return tool as ToolCallUpdate;
}

function unknown(raw: wire.SessionUpdate): SessionUpdate {
  // any string may be the tag of an unknown update
  return { sessionUpdate: raw.sessionUpdate as never, unknown: true, raw };
}

type Event = Readonly<Record<string, unknown>>;

const keys = ["terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit"] as const;
const utf8 = new TextEncoder();

interface TerminalMetaState {
  readonly shown: readonly string[];
  readonly ofCall: Readonly<Record<string, string>>;
}

export class TerminalMeta {
  /** The terminals that a call shows, and the first of each call. */
  readonly #shown: Set<string>;
  readonly #ofCall: Map<string, string>;

  constructor({ shown, ofCall }: TerminalMetaState = { shown: [], ofCall: {} }) {
    this.#shown = new Set(shown);
    this.#ofCall = new Map(Object.entries(ofCall));
  }

  get state(): TerminalMetaState {
    return { shown: [...this.#shown], ofCall: Object.fromEntries(this.#ofCall) };
  }

  /** Takes the terminal events out of a tool call's `_meta`, and gives them as updates of terminals. */
  take(tool: wire.ToolCallUpdate): readonly SessionUpdate[] {
    for (const item of tool.content ?? []) if (item.type === "terminal") this.#show(tool, item.terminalId);
    const meta = tool._meta;
    if (meta == null || !keys.some((key) => isObject(meta[key]))) return [];
    const updates = [
      ...this.#event(tool, meta["terminal_info"], ({ command, cwd }) => ({
        sessionUpdate: "terminal_update" as const,
        ...optional({ command: textOf(command), cwd: pathOf(cwd) }),
      })),
      // text to append, under either key
      ...this.#event(tool, meta["terminal_output_delta"] ?? meta["terminal_output"], ({ data }) =>
        typeof data === "string" && data !== ""
          ? { sessionUpdate: "terminal_output_chunk" as const, data: toBase64(utf8.encode(data)) }
          : undefined,
      ),
      ...this.#event(tool, meta["terminal_exit"], ({ exit_code: exitCode, signal }) => ({
        sessionUpdate: "terminal_update" as const,
        exitStatus: optional({
          exitCode: Number.isInteger(exitCode) ? exitCode : undefined,
          signal: textOf(signal),
        }),
      })),
    ];
    const rest = Object.entries(meta).filter(([key]) => !keys.some((known) => known === key));
    if (rest.length === 0) delete tool._meta;
    else tool._meta = Object.fromEntries(rest);
    return updates;
  }

  /** One event of a terminal: the one it names, the one the call shows, or a new one of the call. */
  #event(
    tool: wire.ToolCallUpdate,
    event: unknown,
    update: (event: Event) => object | undefined,
  ): readonly SessionUpdate[] {
    if (!isObject(event)) return [];
    const { toolCallId } = tool;
    const terminalId = textOf(event["terminal_id"]) ?? this.#ofCall.get(toolCallId) ?? toolCallId;
    const shown: SessionUpdate[] = this.#shown.has(terminalId)
      ? []
      : [
          {
            sessionUpdate: "tool_call_content_chunk",
            toolCallId,
            content: { type: "terminal", terminalId },
          },
        ];
    this.#show(tool, terminalId);
    const told = update(event);
    return told === undefined ? shown : [...shown, { ...told, terminalId } as SessionUpdate]; // made above
  }

  #show({ toolCallId }: wire.ToolCallUpdate, terminalId: string): void {
    this.#shown.add(terminalId);
    if (!this.#ofCall.has(toolCallId)) this.#ofCall.set(toolCallId, terminalId);
  }
}

function pathOf(value: unknown): string | undefined {
  const path = textOf(value);
  return path !== undefined && isAbsolutePath(path) ? path : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
