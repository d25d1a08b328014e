// Rebuilds the model's transcript and the remembered permissions from a session's history.

import {
  type ContentBlock,
  type Entry,
  type PermissionOption,
  type PermissionRequest,
  type SessionUpdate,
  textOf,
} from "@parley/acp";
import { extensionIn, keptMessagesKey, keptRequestTokensKey, withdrawnKey } from "@parley/acp/extensions";
import { isObject } from "@parley/acp/jsonrpc";
import type { PermissionOutcome, ToolCallContent } from "@parley/acp/model";
import type { AssistantPart } from "../model/assistant-message.ts";
import type { MediaPart, ToolOutcome } from "../model/model.ts";
import { lastingScope } from "../permissions/lasting-grants.ts";
import { type Rejection, rejection, remembered, unanswered } from "../permissions/question.ts";
import { readPrompt } from "./commands.ts";
import { isForModel, userParts } from "./prompt-content.ts";
import type { CodingSessionState } from "./session-state.ts";
import type { Transcript } from "./transcript.ts";
import { noteOfAnswer } from "./undo.ts";

/**
 * `until` is the id of the message being answered: it and all later entries are not history yet.
 * Thinking is left out, since only the provider that signed it could accept it.
 */
export async function rebuild(
  entries: AsyncIterable<Entry>,
  state: CodingSessionState,
  until: string,
): Promise<void> {
  state.transcript.clear();
  state.grants.clear();
  const rebuilding = new Rebuilding(state.transcript);
  const asks = new Map<string, PermissionRequest>();
  for await (const entry of entries) {
    const isMessage = entry.kind === "prompt" || entry.kind === "inbox";
    if (isMessage && entry.messageId === until) break;
    if (isMessage) {
      rebuilding.prompt(entry.prompt, entry.messageId);
      keepPrompt(entry.prompt, state);
    } else if (entry.kind === "ask" && "permission" in entry) asks.set(entry.askId, entry.permission);
    else if (entry.kind === "answer" && "permission" in entry) {
      const ask = asks.get(entry.askId);
      asks.delete(entry.askId);
      const chosen = chosenOption(ask, entry.permission);
      rememberAnswer(chosen, entry.permission, state);
      if (ask?.subject?.type === "tool_call" && !chosen?.kind.startsWith("allow_"))
        rebuilding.refuse(
          ask.subject.toolCall.toolCallId,
          chosen === undefined ? unanswered : rejection(entry.permission._meta),
        );
    } else if (entry.kind === "result") rebuilding.outcome(entry.messageId, entry.result.stopReason);
    else if (entry.kind === "update") {
      rebuilding.update(entry.update);
      keepFacts(entry.update, state);
    }
  }
  rebuilding.end();
}

function chosenOption(
  ask: PermissionRequest | undefined,
  answer: PermissionOutcome,
): PermissionOption | undefined {
  if (answer.outcome !== "selected") return undefined;
  return ask?.options.find(({ optionId }) => optionId === answer.optionId);
}

/** An answer that outlives its session is stored elsewhere, and may have been revoked. */
function rememberAnswer(
  chosen: PermissionOption | undefined,
  answer: PermissionOutcome,
  { grants, lastingGrants }: CodingSessionState,
): void {
  if (chosen === undefined) return;
  const allows = chosen.kind === "allow_always";
  if (allows && lastingGrants !== undefined && lastingScope(answer._meta) !== undefined) return;
  grants.remember(remembered(chosen), allows);
}

function keepPrompt(prompt: readonly ContentBlock[], state: CodingSessionState): void {
  const reading = readPrompt(prompt);
  if (reading.type === "prompt") state.firstText ??= textOf(prompt);
  else if (reading.command === "permissions" && reading.argument === "clear") state.grants.clear();
}

function keepFacts(update: SessionUpdate, state: CodingSessionState): void {
  if (update.sessionUpdate === "session_info_update" && update.title != null) state.isTitled = true;
  if (update.sessionUpdate === "usage_update" && update.cost != null) state.cost = update.cost.amount;
}

interface Call {
  readonly id: string;
  readonly name: string;
  input: unknown;
  content: readonly ToolCallContent[];
  rawOutput: unknown;
  status: string;
  /** False while the model writes the arguments: such a draft may never become a call. */
  isWhole: boolean;
}

const newCall = { input: {}, content: [], rawOutput: undefined, status: "pending", isWhole: false } as const;

type ToolPatch = Extract<SessionUpdate, { sessionUpdate: "tool_call_update" }>;

class Rebuilding {
  readonly #transcript: Transcript;
  /** The current answer: text, then calls. */
  #text = "";
  #calls = new Map<string, Call>();
  /** The agent itself answers this prompt, not the model. */
  #isLocal = false;
  /** The answer to `/undo` or `/redo`. */
  #undo: string | undefined;
  /** Prompts whose turn has not ended; a further prompt joins that turn. */
  readonly #open = new Set<string>();

  constructor(transcript: Transcript) {
    this.#transcript = transcript;
  }

  prompt(prompt: Extract<Entry, { kind: "prompt" }>["prompt"], messageId: string): void {
    this.end();
    const reading = readPrompt(prompt);
    if (this.#open.size === 0) {
      this.#isLocal = reading.type === "local";
      this.#transcript.beginTurn();
    }
    this.#open.add(messageId);
    if (reading.type === "prompt") this.#transcript.addUser(userParts(reading.prompt));
    else if (reading.command === "clear") this.#transcript.clear();
    else if (reading.command === "undo" || reading.command === "redo") this.#undo = "";
  }

  outcome(messageId: string, stopReason: string): void {
    this.#open.delete(messageId);
    if (stopReason !== "refusal") return;
    this.#text = "";
    this.#calls = new Map();
    this.#transcript.forgetTurn();
  }

  update(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        if (this.#undo !== undefined) this.#undo += textOf(update.content);
        if (this.#isLocal || update.content.type !== "text" || !isForModel(update.content)) return;
        // text after calls begins the next answer
        if (this.#hasCalls()) this.end();
        this.#text += update.content.text;
        return;
      case "usage_update":
        // sent once per answer before its calls, so these calls belong to the previous answer
        if (this.#hasCalls()) this.end();
        return;
      case "tool_call_update":
        return this.#call(update);
      case "session_info_update": {
        const withdrawn = extensionIn(update._meta, withdrawnKey);
        if (typeof withdrawn === "number") this.#text = this.#text.slice(0, -withdrawn || undefined);
        return;
      }
      case "compaction_update":
        return this.#compaction(update);
      default:
    }
  }

  /** Whether the current answer has finished calls. */
  #hasCalls(): boolean {
    return [...this.#calls.values()].some(({ isWhole }) => isWhole);
  }

  /** Ends the current answer. */
  end(): void {
    const note = noteOfAnswer(this.#undo ?? "");
    this.#undo = undefined;
    if (note !== undefined && !this.#transcript.isEmpty) this.#transcript.addNote(note);
    const calls = [...this.#calls.values()].filter(({ isWhole }) => isWhole);
    const parts: AssistantPart[] = [
      ...(this.#text === "" ? [] : [{ type: "text" as const, text: this.#text }]),
      ...calls.map(({ id, name, input }) => ({ type: "tool_call" as const, id, name, input })),
    ];
    this.#text = "";
    this.#calls = new Map();
    if (parts.length > 0) this.#transcript.addAssistant(parts);
    for (const call of calls) this.#transcript.addOutcome(outcomeOf(call));
  }

  /** The call was asked about, and not allowed. */
  refuse(toolCallId: string, rejected: Rejection): void {
    const call = this.#calls.get(toolCallId);
    if (call !== undefined) call.rawOutput = rejected;
  }

  #call(patch: ToolPatch): void {
    const { toolCallId: id, name } = patch;
    const known = this.#calls.get(id);
    // later updates of a call have no name
    if (known === undefined && (name == null || isOfSubagent(patch))) return;
    const call: Call = known ?? { ...newCall, id, name: name ?? "" };
    this.#calls.set(id, call);
    if (patch.rawInput !== undefined) {
      call.input = patch.rawInput ?? {};
      call.isWhole = true;
    }
    if (patch.content != null) call.content = patch.content;
    if (patch.rawOutput !== undefined) call.rawOutput = patch.rawOutput;
    if (patch.status != null) call.status = patch.status;
  }

  #compaction(update: Extract<SessionUpdate, { sessionUpdate: "compaction_update" }>): void {
    if (update.status !== "completed") return;
    const summary = textOf(update.summary ?? []);
    if (summary === "") return;
    this.end();
    const numberAt = (key: `_parley.dev/${string}`) => {
      const value = extensionIn(update._meta, key);
      return typeof value === "number" ? value : 0;
    };
    this.#transcript.compact(summary, {
      kept: numberAt(keptMessagesKey),
      requestTokens: numberAt(keptRequestTokensKey),
    });
  }
}

/** The model has the report of a subagent, and none of its calls. */
function isOfSubagent({ _meta }: ToolPatch): boolean {
  const claude = _meta?.["claudeCode"];
  return isObject(claude) && claude["parentToolUseId"] !== undefined;
}

function outcomeOf({ id, name, content, rawOutput, status }: Call): ToolOutcome {
  const { told, advice, exitCode } = (
    typeof rawOutput === "string" ? { told: rawOutput } : (rawOutput ?? {})
  ) as {
    readonly told?: unknown;
    readonly advice?: unknown;
    readonly exitCode?: unknown;
  }; // rawOutput is any JSON
  const text = typeof told === "string" ? told : "This call was interrupted; how far it got is unknown.";
  return {
    callId: id,
    name,
    content: [
      { type: "text", text },
      ...(typeof advice === "string" ? [{ type: "text" as const, text: advice }] : []),
      ...mediaOf(content),
    ],
    // a command that ran and failed has an exit code, and is no error of the call
    isError: status !== "completed" && exitCode === undefined,
  };
}

function mediaOf(content: readonly ToolCallContent[]): MediaPart[] {
  return content.flatMap((item) => {
    const block = item.type === "content" ? item.content : undefined;
    if (block?.type !== "image" && block?.type !== "audio") return [];
    return [{ type: block.type, mediaType: String(block.mimeType), data: String(block.data) }];
  });
}
