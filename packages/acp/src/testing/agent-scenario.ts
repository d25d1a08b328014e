// What a scripted agent does, as data: it fits into a .json file. Read it from the top: who the agent is, what its
// sessions show, what it does in each turn, and how it bends the wire.

import type { ProtocolVersion } from "../edition/negotiate.ts";
import type { ElicitationAsk, PermissionAsk } from "../model/ask.ts";
import type {
  AuthMethod,
  AvailableCommand,
  ContentBlock,
  Cost,
  Meta,
  PermissionOption,
  PlanEntry,
  SessionConfigOption,
  TerminalExitStatus,
  Usage,
} from "../model/content.ts";
import type { EntryBody } from "../model/entry.ts";
import type { CreateTerminalOptions } from "../model/terminals.ts";
import type { Outcome, StopReason, ToolCallContent, ToolCallUpdate, Update } from "../model/update.ts";
import type { ToolCallStart } from "../peer/agent/turn/tool-call.ts";
import type { UnstableMethods } from "../wire/decode.ts";
import type { Crash, RawMessage, ScriptedError, WireRules } from "./wire-rules.ts";

/**
 * Strings may have `{{session}}`, `{{cwd}}`, `{{prompt}}` (its text), `{{id}}` (of the request that is being answered)
 * and whatever a step kept with `as`. A string that is nothing else becomes the value itself.
 */
export interface AgentScenario {
  readonly parley: "agent-scenario";
  readonly version: 1;
  /** Default "scripted-agent". */
  readonly name?: string;
  readonly title?: string;
  /** Newest first. Default both. */
  readonly versions?: readonly ProtocolVersion[];
  readonly unstable?: UnstableMethods;
  readonly accepts?: {
    readonly image?: boolean;
    readonly audio?: boolean;
    readonly embeddedContext?: boolean;
  };
  readonly mcp?: { readonly http?: boolean; readonly sse?: boolean };
  readonly steering?: boolean;
  readonly concurrentPrompts?: "queue" | "reject";
  readonly meta?: Meta;
  /** Ways to log in; all of them succeed. */
  readonly authMethods?: readonly AuthMethod[];
  /** Sessions are refused with -32000 until somebody has logged in, and again after a logout. */
  readonly loginRequired?: boolean;
  /** What a session shows when it is opened, loaded, resumed or forked. */
  readonly open?: {
    readonly options?: readonly SessionConfigOption[];
    readonly commands?: readonly AvailableCommand[];
    /** Of new sessions. */
    readonly title?: string;
    /** Done once the answer has left; a session has no turn then. */
    readonly steps?: readonly AgentStep[];
  };
  /** Sessions that are there from the start, to be listed and loaded. */
  readonly sessions?: readonly StoredSession[];
  readonly turns?: readonly TurnScript[];
  /** For prompts that no turn is for. Default: nothing is said, "end_turn". */
  readonly otherwise?: readonly AgentStep[];
  /** How it bends the wire. */
  readonly wire?: WireRules;
}

export interface StoredSession {
  readonly sessionId: string;
  readonly cwd: string;
  readonly title?: string;
  /** Its history; a replay shows its prompts and updates. */
  readonly entries?: readonly EntryBody[];
}

/** One turn. Those with `when` are for the prompts that match; the others are taken in order, for each session. */
export interface TurnScript {
  /** The whole text of the prompt, or a part of it. */
  readonly when?: string | { readonly contains: string };
  readonly steps: readonly AgentStep[];
}

interface Chunk {
  /** How often. Default 1. */
  readonly times?: number;
  /** Text is repeated to so many characters. */
  readonly size?: number;
  /** Default: consecutive chunks of one kind are one message. */
  readonly messageId?: string;
  readonly meta?: Meta;
}

/** Where the value that a step learns is kept, for `{{name}}` in later steps. */
interface Keeps {
  readonly as?: string;
}

/** Beside those of a turn, what can be done inside a tool call. */
export type ToolStep =
  | { readonly start: true }
  | { readonly add: string | ToolCallContent }
  | { readonly diff: { readonly path: string; readonly newText: string; readonly oldText?: string } }
  | { readonly patch: Omit<ToolCallUpdate, "toolCallId"> }
  /** Ends the tool call as failed, with this text. */
  | { readonly failTool: string };

/** What a client's terminal is told, one after the other. */
export type TerminalOp = "output" | "wait" | "kill" | "release";

/** One step has one verb. */
export type AgentStep =
  | ({ readonly say: string | ContentBlock } & Chunk)
  | ({ readonly think: string | ContentBlock } & Chunk)
  | { readonly plan: readonly PlanEntry[]; readonly planId?: string }
  | {
      readonly tool: ToolCallStart;
      readonly steps?: readonly AgentStep[];
      /** Default "completed". False leaves it open until the turn ends. */
      readonly status?: "completed" | "failed" | "cancelled" | false;
      /** With its end. */
      readonly rawOutput?: unknown;
    }
  /** A tool call beside the conversation: the script goes on, and turns end and begin meanwhile. */
  | {
      readonly background: ToolCallStart;
      readonly steps?: readonly AgentStep[];
      readonly status?: "completed" | "failed" | "cancelled";
      readonly rawOutput?: unknown;
      /** Done when it is over, outside any turn. */
      readonly after?: readonly AgentStep[];
    }
  /** Work that no prompt asked for, in a turn of its own when this one is over. */
  | { readonly work: readonly AgentStep[] }
  | ToolStep
  /** A terminal that the agent owns; inside a tool call it is shown there. */
  | {
      readonly display: { readonly command?: string; readonly cwd?: string };
      readonly output?: string | readonly string[];
      /** Default: exit code 0. False leaves it running until the turn ends. */
      readonly exit?: TerminalExitStatus | false;
    }
  /** Inside a tool call, `true` asks about that call. */
  | ({
      readonly ask: true | string | PermissionAsk;
      /** Default: allow once, allow always, reject once. */
      readonly choices?: readonly PermissionOption[];
      /** By option id, else "allowed" or "refused"; "cancelled" where nothing was chosen. */
      readonly on?: Readonly<Record<string, readonly AgentStep[]>>;
    } & Keeps)
  | ({
      readonly elicit: ElicitationAsk;
      /** By action: "accept", "decline", "cancel"; "unavailable" where the client offers none. */
      readonly on?: Readonly<Record<string, readonly AgentStep[]>>;
    } & Keeps)
  | { readonly completeElicitation: string }
  /** The client's files and terminals: skipped, and reported, where it offers none. */
  | ({ readonly read: string; readonly line?: number; readonly limit?: number } & Keeps)
  | { readonly write: string; readonly content: string }
  | ({
      readonly run: Omit<CreateTerminalOptions, "signal">;
      /** Default: wait, output, release. */
      readonly ops?: readonly (TerminalOp | AgentStep)[];
    } & Keeps)
  | {
      readonly notice: {
        readonly severity: "info" | "warning" | "error";
        readonly title: string;
        readonly description?: string;
      };
    }
  | { readonly usage: { readonly used: number; readonly size: number; readonly cost?: Cost } }
  /** Of the turn, reported with its end. */
  | { readonly tokens: Usage }
  | { readonly title: string }
  | { readonly commands: readonly AvailableCommand[] }
  | { readonly options: readonly SessionConfigOption[] }
  /** Chooses a mode, as the agent's own decision. */
  | { readonly mode: string }
  /** Any update of the model. */
  | { readonly update: Update }
  /** Any update as the wire has it, valid or not. */
  | { readonly rawUpdate: unknown }
  /** Any text or JSON on the wire. */
  | { readonly raw: RawMessage }
  /** Any request on the wire; waits for its answer. */
  | ({
      readonly call: {
        readonly method: string;
        readonly params?: unknown;
        readonly id?: string | number;
      };
    } & Keeps)
  /** Waits for the next prompt and takes it from the inbox; for agents with `steering`. */
  | ({ readonly take: true } & Keeps)
  /** Until the turn is cancelled, until another prompt has arrived, until the test opens a gate. */
  | { readonly wait: "cancelled" | "prompt" | { readonly gate: string } }
  /** Milliseconds of the clock that was injected. */
  | { readonly delay: number }
  | { readonly repeat: number; readonly steps: readonly AgentStep[] }
  /** Done when the turn is over. */
  | { readonly later: readonly AgentStep[] }
  /** Ends the turn. */
  | { readonly end: StopReason | Outcome }
  /** Ends the turn with an error: of the protocol, or as if the agent had a bug. */
  | { readonly fail: ScriptedError | "bug" }
  /** Ends the process, or the connection where there is no process of its own. */
  | { readonly crash: Crash }
  /** The turn never ends, not even when it is cancelled; or the agent neither reads nor writes any more. */
  | { readonly hang: "turn" | "agent" };
