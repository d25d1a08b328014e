// The type of a client scenario: a scripted client as plain JSON.

import type { Editions } from "../edition/negotiate.ts";
import type { ElicitationResponse } from "../model/ask.ts";
import type { ContentBlock, Meta } from "../model/content.ts";
import type { OutgoingMcpServer } from "../model/outgoing.ts";
import type { UnstableFeatures } from "../validation/unstable-features.ts";
import type { RawMessage, WireRules } from "./scripted-wire.ts";

export interface ClientScenario {
  readonly parley: "client-scenario";
  readonly version: 1;
  /** Default "scripted-client". */
  readonly name?: string;
  /** Newest first. Default: all. */
  readonly editions?: Editions;
  readonly unstable?: UnstableFeatures;
  readonly _meta?: Meta;
  /** The first matching rule answers. Default: the first option that allows once, else none. */
  readonly permissions?: readonly PermissionRule[];
  /** The same for elicitations; without rules the client supports none. */
  readonly elicitations?: readonly ElicitationRule[];
  /** Files in memory, by absolute path. Without them the client supports no files. */
  readonly files?: Readonly<Record<string, string>>;
  /** Commands and their output; without them the client supports no terminals. */
  readonly terminals?: readonly CommandScript[];
  /** The login method to use when the agent requires one. Default: none. */
  readonly login?: string;
  readonly steps: readonly ClientStep[];
  /** Changes to the messages on the wire. */
  readonly wire?: WireRules;
}

/** Counts updates of the agent. */
export interface UpdateCount {
  /** A kind of update, such as "agent_message_chunk". */
  readonly update: string;
  /** Which update of its kind since the prompt, counted from 1. Default 1. */
  readonly nth?: number;
}

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

export interface ElicitationRule {
  /** A part of the message. Default: every elicitation. */
  readonly when?: string;
  readonly answer: ElicitationResponse | "never";
  readonly gate?: string;
  readonly times?: number;
}

export interface CommandScript {
  /** The command and its arguments, joined by blanks. */
  readonly command: string;
  readonly output?: string;
  /** Default: exit code 0. "runs": runs until it is killed. */
  readonly exit?: { readonly exitCode?: number; readonly signal?: string } | "runs";
}

export interface InSession {
  /** The name that a step gave the session with `as`. Default "main". */
  readonly session?: string;
}

export interface NamesSession {
  /** Default "main". */
  readonly as?: string;
}

export interface ScriptedPlace {
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  readonly mcpServers?: readonly OutgoingMcpServer[];
  readonly _meta?: Meta;
}

/** A session that a step has named, or any session by its id. */
export type SessionRef = string | { readonly id: string; readonly cwd: string };

/** A step; each has exactly one verb. A failure is recorded, and the next step runs. */
export type ClientStep =
  /** A working directory, or all parameters of a session. */
  | ({ readonly open: string | ScriptedPlace } & NamesSession)
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
      /** Whether the next step waits for the outcome. Default true. */
      readonly wait?: boolean;
    } & InSession)
  /** Waits for the outcomes of all prompts. */
  | { readonly settle: true }
  /** Cancels the current work of the session. */
  | { readonly cancel: string }
  | ({ readonly cancelTool: string } & InSession)
  | ({ readonly cancelTerminal: string } & InSession)
  | ({ readonly setOption: string; readonly value: string | boolean } & InSession)
  | ({ readonly setMode: string } & InSession)
  | { readonly login: string }
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
