// What a scripted client does, as data: it fits into a .json file. How it answers, what its files and terminals
// hold, and then its steps, one after the other.

import type { ProtocolVersion } from "../edition/negotiate.ts";
import type { ElicitationAnswer } from "../model/ask.ts";
import type { ContentBlock, McpServer, Meta } from "../model/content.ts";
import type { UnstableMethods } from "../wire/decode.ts";
import type { RawMessage, WireRules } from "./wire-rules.ts";

export interface ClientScenario {
  readonly parley: "client-scenario";
  readonly version: 1;
  /** Default "scripted-client". */
  readonly name?: string;
  /** Newest first. Default both. */
  readonly versions?: readonly ProtocolVersion[];
  readonly unstable?: UnstableMethods;
  readonly meta?: Meta;
  /** The first rule that fits answers. Default: the first option that allows once, else none. */
  readonly permissions?: readonly PermissionRule[];
  /** The same for forms and addresses; without rules the client offers neither. */
  readonly elicitations?: readonly ElicitationRule[];
  /** Texts by absolute path; they exist in memory only. Without them the client offers no files. */
  readonly files?: Readonly<Record<string, string>>;
  /** What commands print; without them the client offers no terminals. */
  readonly terminals?: readonly CommandScript[];
  /** The method to log in with when the agent wants it. Default: give up. */
  readonly login?: string;
  readonly steps: readonly ClientStep[];
  /** How it bends the wire. */
  readonly wire?: WireRules;
}

/** When something happens that depends on the agent. */
export interface UpdateCount {
  /** A kind of update, such as "agent_message_chunk". */
  readonly update: string;
  /** The how manieth of its kind since the prompt began. Default 1. */
  readonly nth?: number;
}

export interface PermissionRule {
  /** A part of the question's title. Default: every question. */
  readonly when?: string;
  /** An option by its id, or the first of a kind; "cancel" and "never" choose none. */
  readonly answer: { readonly option: string } | { readonly kind: string } | "cancel" | "never";
  /** Answers when the test opens this gate. */
  readonly gate?: string;
  /** For so many questions only. */
  readonly times?: number;
}

export interface ElicitationRule {
  /** A part of its message. Default: every one. */
  readonly when?: string;
  readonly answer: ElicitationAnswer | "never";
  readonly gate?: string;
  readonly times?: number;
}

export interface CommandScript {
  /** The command and its arguments, joined by blanks. */
  readonly command: string;
  readonly output?: string;
  /** Default: exit code 0. "runs" until it is killed. */
  readonly exit?: { readonly exitCode?: number; readonly signal?: string } | "runs";
}

interface InSession {
  /** The name that a step gave the session with `as`. Default "main". */
  readonly session?: string;
}

interface NamesSession {
  /** Default "main". */
  readonly as?: string;
}

export interface ScriptedPlace {
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  readonly mcpServers?: readonly McpServer[];
  readonly meta?: Meta;
}

/** A session that a step has named, or any session by its id. */
export type SessionRef = string | { readonly id: string; readonly cwd: string };

/** One step has one verb. A step that fails is recorded, and the next one is done. */
export type ClientStep =
  /** A working directory, or all that a session needs. */
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
      readonly meta?: Meta;
      /** Cancels: as soon as it was sent, when the agent asks for permission, after an update, at a gate. */
      readonly cancel?: "at-once" | "at-permission" | UpdateCount | { readonly gate: string };
      /** False: the next step does not wait for its outcome. Default true. */
      readonly wait?: boolean;
    } & InSession)
  /** Waits for the outcomes of all prompts. */
  | { readonly settle: true }
  /** What the session is doing. */
  | { readonly cancel: string }
  | ({ readonly cancelTool: string } & InSession)
  | ({ readonly cancelTerminal: string } & InSession)
  | ({ readonly setOption: string; readonly value: string | boolean } & InSession)
  | ({ readonly setMode: string } & InSession)
  | { readonly login: string }
  | { readonly logout: true }
  /** Outside the protocol; names begin with `_`. */
  | { readonly request: string; readonly params?: unknown }
  | { readonly notify: string; readonly params?: unknown }
  /** Opens a gate of a scripted agent, in whatever process it runs. */
  | { readonly openGate: string }
  /** Until so many updates of a kind have come, the session is in a state, a gate is opened, the agent has gone. */
  | ({
      readonly until: UpdateCount | { readonly state: string } | { readonly gate: string } | "closed";
    } & InSession)
  | { readonly delay: number }
  /** Any text or JSON on the wire. */
  | { readonly raw: RawMessage }
  /** Any request on the wire; its answer is recorded. */
  | { readonly call: string; readonly params?: unknown }
  /** Ends the connection: in order, or as if this side had died. */
  | { readonly disconnect: "close" | "die" };
