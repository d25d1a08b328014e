// The type of a client scenario: a scripted client as plain JSON.

import type { Editions, UnstableFeatures } from "@parley/acp";
import type {
  ContentBlock,
  ElicitationResponse,
  JsonValue,
  Meta,
  OutgoingMcpServer,
} from "@parley/acp/model";
import type { RawMessage, WireRules } from "./scripted-wire.ts";

/** Describes a scripted client. */
export interface ClientScenario {
  /** Marks a file as a client scenario. */
  readonly parley: "client-scenario";
  /** The version of the format. */
  readonly version: 1;
  /** The name that agents see. Default "scripted-client". */
  readonly name?: string;
  /** The protocol versions to offer, newest first. Default: all. */
  readonly editions?: Editions;
  /** Unstable features to enable. Default: none. */
  readonly unstable?: UnstableFeatures;
  readonly _meta?: Meta;
  /**
   * Rules for permission requests; the first that matches answers. Default: the first option that allows once, else
   * none.
   */
  readonly permissions?: readonly PermissionRule[];
  /** Rules for elicitations. Default: the client supports none. */
  readonly elicitations?: readonly ElicitationRule[];
  /** Files in memory, by absolute path. Default: the client supports no files. */
  readonly files?: Readonly<Record<string, string>>;
  /** Commands and their output. Default: the client supports no terminals. */
  readonly terminals?: readonly CommandScript[];
  /** The login method to use when the agent requires one. Default: none. */
  readonly login?: string;
  /** The credentials of that login, where the agent speaks a dialect. Default: none. */
  readonly credentials?: Readonly<Record<string, unknown>>;
  /** The steps of the client, in order. */
  readonly steps: readonly ClientStep[];
  /** Changes to the messages on the wire. */
  readonly wire?: WireRules;
}

/** Counts updates of the agent. */
export interface UpdateCount {
  /** A kind of update, such as "agent_message_chunk". */
  readonly update: string;
  /** The number of the update among those of its kind since the prompt, from 1. Default 1. */
  readonly nth?: number;
}

/** An answer to permission requests. */
export interface PermissionRule {
  /** A part of the question's title. Default: every question. */
  readonly when?: string;
  /** An option by its id, or the first of a kind; "cancel" cancels, "never" does not answer. */
  readonly answer: { readonly option: string } | { readonly kind: string } | "cancel" | "never";
  /** Answers when the test opens this gate. */
  readonly gate?: string;
  /** How many questions it answers. Default: all. */
  readonly times?: number;
}

/** An answer to elicitations. */
export interface ElicitationRule {
  /** A part of the message. Default: every elicitation. */
  readonly when?: string;
  /** The answer; "never" does not answer. */
  readonly answer: ElicitationResponse | "never";
  /** Answers when the test opens this gate. Default: at once. */
  readonly gate?: string;
  /** How many elicitations it answers. Default: all. */
  readonly times?: number;
}

/** A command of the scripted terminals. */
export interface CommandScript {
  /** The command and its arguments, joined by blanks. */
  readonly command: string;
  /** Its output. Default: nothing. */
  readonly output?: string;
  /** The id of its process. Default: not told. */
  readonly pid?: number;
  /** How it exits; "runs" waits until it is killed. Default: exit code 0. */
  readonly exit?: { readonly exitCode?: number; readonly signal?: string } | "runs";
}

/** The session of a step. */
export interface InSession {
  /** The name that a step gave the session with `as`. Default "main". */
  readonly session?: string;
}

/** The name that a step gives its session. */
export interface NamesSession {
  /** The name for later steps. Default "main". */
  readonly as?: string;
}

/** The parameters of a new session. */
export interface ScriptedSessionSetup {
  /** The working directory. */
  readonly cwd: string;
  /** Further directories. Default: none. */
  readonly additionalDirectories?: readonly string[];
  /** The MCP servers of the session. Default: none. */
  readonly mcpServers?: readonly OutgoingMcpServer[];
  readonly _meta?: Meta;
}

/** A session that a step has named, or any session by its id. */
export type SessionRef = string | { readonly id: string; readonly cwd: string };

/** A step; each has exactly one verb. A failure is recorded, and the next step runs. */
export type ClientStep =
  /** A working directory, or all parameters of a session. */
  | ({ readonly open: string | ScriptedSessionSetup } & NamesSession)
  | ({ readonly load: SessionRef } & NamesSession)
  | ({ readonly resume: SessionRef } & NamesSession)
  | ({ readonly fork: SessionRef } & NamesSession)
  | { readonly close: string }
  | { readonly delete: SessionRef }
  /** All pages. */
  | { readonly list: { readonly cwd?: string } }
  | ({
      readonly prompt: string | readonly ContentBlock[];
      readonly _meta?: Meta;
      /** Cancels the prompt: at once, at a permission request, after an update, or when a gate is opened. */
      readonly cancel?: "at-once" | "at-permission" | UpdateCount | { readonly gate: string };
      /** Whether the next step waits for the result. Default true. */
      readonly wait?: boolean;
    } & InSession)
  /** Waits for the results of all prompts. */
  | { readonly settle: true }
  /** Cancels the current work of the session. */
  | { readonly cancel: string }
  | ({ readonly cancelToolCall: string } & InSession)
  | ({ readonly cancelTerminal: string } & InSession)
  | ({ readonly setConfigOption: string; readonly value: JsonValue } & InSession)
  | ({ readonly setMode: string } & InSession)
  | { readonly login: string; readonly credentials?: Readonly<Record<string, unknown>> }
  | { readonly logout: true }
  /** Extension methods; names begin with `_`. */
  | { readonly request: string; readonly params?: unknown }
  | { readonly notify: string; readonly params?: unknown }
  /** Opens a gate of a scripted agent, also in another process. */
  | { readonly openGate: string }
  /** Waits for a number of updates, a state of the session, a gate, or the end of the connection. */
  | ({
      readonly until: UpdateCount | { readonly state: string } | { readonly gate: string } | "closed";
    } & InSession)
  | { readonly delay: number }
  /** Any text or JSON on the wire. */
  | { readonly raw: RawMessage }
  /** Any request on the wire; its answer is recorded. */
  | { readonly call: string; readonly params?: unknown }
  /** Ends the connection: cleanly, or like a crash. */
  | { readonly disconnect: "close" | "die" };
