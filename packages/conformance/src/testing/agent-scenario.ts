// The type of an agent scenario: a scripted agent as plain JSON.

import type { Editions, ToolCallStart, UnstableFeatures } from "@parley/acp";
import type {
  AuthMethod,
  ContentBlock,
  Cost,
  CreateTerminalOptions,
  ElicitationRequest,
  EntryBody,
  ExitStatus,
  Meta,
  OutgoingCommand,
  OutgoingConfigOption,
  OutgoingUpdate,
  PermissionOption,
  PermissionRequest,
  PlanEntry,
  PromptResult,
  ReadTextOptions,
  StopReason,
  ToolCallContent,
  ToolCallUpdate,
  Usage,
  WriteTextOptions,
} from "@parley/acp/model";
import type { Crash, RawMessage, ScriptedError, WireRules } from "./scripted-wire.ts";

/**
 * Describes a scripted agent. Strings may contain `{{session}}`, `{{cwd}}`, `{{prompt}}` (its text), `{{id}}` (of the
 * answered request) and every name that a step has set with `as`. A string with nothing else becomes the value itself.
 */
export interface AgentScenario {
  /** Marks a file as an agent scenario. */
  readonly parley: "agent-scenario";
  /** The version of the format. */
  readonly version: 1;
  /** The name that clients see. Default "scripted-agent". */
  readonly name?: string;
  /** The title that clients see. Default: none. */
  readonly title?: string;
  /** The protocol versions to offer, newest first. Default: all. */
  readonly editions?: Editions;
  /** Unstable features to enable. Default: none. */
  readonly unstable?: UnstableFeatures;
  /** The content that prompts may contain besides text and links. Default: none. */
  readonly promptCapabilities?: {
    readonly image?: boolean;
    readonly audio?: boolean;
    readonly embeddedContext?: boolean;
  };
  /** The MCP transports besides stdio. Default: none. */
  readonly mcpCapabilities?: { readonly http?: boolean; readonly sse?: boolean };
  /** The treatment of prompts that arrive during a turn, as in `agent()`. Default "queue". */
  readonly concurrentPrompts?: "queue" | "reject" | "inbox";
  readonly _meta?: Meta;
  /** Ways to log in; all of them succeed. */
  readonly authMethods?: readonly AuthMethod[];
  /** Refuses sessions with RequestError "auth_required" until a login, and again after a logout. */
  readonly loginRequired?: boolean;
  /** The state of a session after it is opened, loaded, resumed or forked. */
  readonly open?: {
    readonly configOptions?: readonly OutgoingConfigOption[];
    readonly availableCommands?: readonly OutgoingCommand[];
    /** For new sessions. */
    readonly title?: string;
    /** Run after the answer, outside of a turn. */
    readonly steps?: readonly AgentStep[];
  };
  /** Sessions that exist from the start. */
  readonly sessions?: readonly StoredSession[];
  /** The answers to prompts. */
  readonly turns?: readonly TurnScript[];
  /** The steps for prompts without a matching turn. Default: none, which ends with "end_turn". */
  readonly otherwise?: readonly AgentStep[];
  /** Changes to the messages on the wire. */
  readonly wire?: WireRules;
}

/** A session that exists before the first connection. */
export interface StoredSession {
  /** The id to load it by. */
  readonly sessionId: string;
  /** Its working directory. */
  readonly cwd: string;
  /** Its title. Default: none. */
  readonly title?: string;
  /** Its history; loading replays its prompts and updates. */
  readonly entries?: readonly EntryBody[];
}

/** One turn. Turns with `when` answer matching prompts; the others are used in order, separately for each session. */
export interface TurnScript {
  /** The whole text of the prompt, or a part of it. Default: any prompt. */
  readonly when?: string | { readonly contains: string };
  /** The steps of the agent, in order. */
  readonly steps: readonly AgentStep[];
}

/** The repetition and the id of a chunk. */
export interface ChunkFields {
  /** How often to send it. Default 1. */
  readonly times?: number;
  /** Repeats the text until it has so many characters. */
  readonly size?: number;
  /** The id of the message. Default: consecutive chunks of one kind are one message. */
  readonly messageId?: string;
  readonly _meta?: Meta;
}

/** Names the result of a step, for `{{name}}` in later steps. */
export interface KeptAnswer {
  /** The name. Default: the result is not kept. */
  readonly as?: string;
}

/** Steps inside a tool call, in addition to those of a turn. */
export type ToolStep =
  | { readonly start: true }
  | { readonly add: string | ToolCallContent }
  | { readonly diff: { readonly path: string; readonly newText: string; readonly oldText?: string } }
  | { readonly patch: Omit<ToolCallUpdate, "toolCallId"> }
  /** Ends the tool call as failed, with this text. */
  | { readonly failTool: string };

/**
 * Operations on a client's terminal. `waitMs` waits so long at most, and `signal` sends a signal: both need a client that
 * speaks a dialect.
 */
export type TerminalOp =
  | "output"
  | "wait"
  | "kill"
  | "release"
  | { readonly waitMs: number }
  | { readonly signal: string };

/** One step of an agent. Each has exactly one verb, which is its first key. */
export type AgentStep =
  | ({ readonly say: string | ContentBlock } & ChunkFields)
  | ({ readonly think: string | ContentBlock } & ChunkFields)
  | { readonly plan: readonly PlanEntry[]; readonly planId?: string }
  | {
      readonly tool: Omit<ToolCallStart, "parent">;
      readonly steps?: readonly AgentStep[];
      /** Default "completed". False leaves it open until the turn ends. */
      readonly status?: "completed" | "failed" | "cancelled" | false;
      /** Sent with its end. */
      readonly rawOutput?: unknown;
    }
  /** A tool call in the background; the script continues meanwhile. */
  | {
      readonly background: Omit<ToolCallStart, "parent">;
      readonly steps?: readonly AgentStep[];
      readonly status?: "completed" | "failed" | "cancelled";
      readonly rawOutput?: unknown;
      /** Run when it has ended, outside of a turn. */
      readonly after?: readonly AgentStep[];
    }
  /** Work without a prompt, in a separate turn after this one. */
  | { readonly work: readonly AgentStep[] }
  | ToolStep
  /** A terminal of the agent; inside a tool call it is shown there. */
  | {
      readonly display: { readonly command?: string; readonly cwd?: string };
      readonly output?: string | readonly string[];
      /** Default: exit code 0. False leaves it running until the turn ends. */
      readonly exit?: ExitStatus | false;
    }
  /** Inside a tool call, `true` asks about that call. */
  | ({
      readonly ask: true | string | PermissionRequest;
      /** Default: allow once, allow always, reject once. */
      readonly choices?: readonly PermissionOption[];
      /** By option id, else "allowed" or "refused"; "cancelled" without a choice. */
      readonly on?: Readonly<Record<string, readonly AgentStep[]>>;
    } & KeptAnswer)
  | ({
      readonly elicit: ElicitationRequest;
      /** By action: "accept", "decline", "cancel"; "unavailable" without client support. */
      readonly on?: Readonly<Record<string, readonly AgentStep[]>>;
    } & KeptAnswer)
  | { readonly completeElicitation: string }
  /** Uses the client's files and terminals; skipped, and reported, without client support. */
  | ({
      readonly read: string;
      readonly line?: number;
      readonly limit?: number;
      readonly encoding?: ReadTextOptions["encoding"];
    } & KeptAnswer)
  | {
      readonly write: string;
      readonly content: string;
      readonly encoding?: WriteTextOptions["encoding"];
      readonly overwrite?: boolean;
    }
  | ({
      readonly run: Omit<CreateTerminalOptions, "signal">;
      /** Default: wait, output, release. */
      readonly ops?: readonly (TerminalOp | AgentStep)[];
    } & KeptAnswer)
  | {
      readonly notice: {
        readonly severity: "info" | "warning" | "error";
        readonly title: string;
        readonly description?: string;
      };
    }
  | { readonly usage: { readonly used: number; readonly size: number; readonly cost?: Cost } }
  /** The usage of the turn, reported with its end. */
  | { readonly tokens: Usage }
  | { readonly title: string }
  | { readonly availableCommands: readonly OutgoingCommand[] }
  | { readonly configOptions: readonly OutgoingConfigOption[] }
  /** Changes the mode. */
  | { readonly mode: string }
  /** Any update of the model. */
  | { readonly update: OutgoingUpdate }
  /** Any update in wire form, valid or not. */
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
    } & KeptAnswer)
  /** Waits for the next prompt in the inbox; for agents with `concurrentPrompts: "inbox"`. */
  | ({ readonly take: true } & KeptAnswer)
  /** Waits until the turn is cancelled, another prompt arrives, or the test opens a gate. */
  | { readonly wait: "cancelled" | "prompt" | { readonly gate: string } }
  /** Milliseconds of the injected clock. */
  | { readonly delay: number }
  | { readonly repeat: number; readonly steps: readonly AgentStep[] }
  /** Run after the turn. */
  | { readonly later: readonly AgentStep[] }
  /** Ends the turn. */
  | { readonly end: StopReason | PromptResult }
  /** Ends the turn with an error of the protocol or, for "bug", with an exception. */
  | { readonly fail: ScriptedError | "bug" }
  /** Ends the process or, without one, the connection. */
  | { readonly crash: Crash }
  /** Never ends the turn, even when it is cancelled; or stops reading and writing. */
  | { readonly hang: "turn" | "agent" };
