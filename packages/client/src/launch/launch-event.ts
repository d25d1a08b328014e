// The events of an agent's process for the user.

import type { EditionName } from "@parley/acp";

/** An event of the agent's process or connection. */
export type LaunchEvent =
  /** The program is being started. `keys` are the variables that look like keys, so that the user knows whose account is used. */
  | {
      readonly kind: "starting";
      readonly agent: string;
      readonly command: readonly string[];
      readonly keys: readonly string[];
    }
  /** The remote agent is being connected to. */
  | { readonly kind: "connecting"; readonly agent: string; readonly url: string }
  /**
   * The remote agent cannot be reached for two seconds. It is tried again; the server keeps the connection for `keptMs` after
   * the cut.
   */
  | { readonly kind: "cut"; readonly agent: string; readonly keptMs: number }
  /** The remote agent is reached again, and nothing is lost. */
  | { readonly kind: "back"; readonly agent: string }
  /** A request is not answered yet: reported every three seconds, with the last line of stderr. */
  | {
      readonly kind: "waiting";
      readonly what: "initialize" | "session";
      readonly elapsedMs: number;
      readonly timeoutMs: number;
      readonly lastLine: string;
    }
  /** The handshake is done. */
  | {
      readonly kind: "ready";
      readonly handshakeMs: number;
      readonly agent: string;
      readonly edition: EditionName;
    }
  /**
   * An agent that ran in a sandbox has ended, and there are new hooks and settings in its workspace, which other programs
   * execute or obey. They stay where they are. `isIncomplete`: the workspace has too many folders to search all.
   */
  | {
      readonly kind: "left_behind";
      readonly paths: readonly string[];
      readonly isIncomplete: boolean;
    }
  /** The agent wrote to stderr. */
  | { readonly kind: "stderr"; readonly text: string }
  /**
   * The agent sent something that was not read. `noise`: not a message. `too_large`: too long, or nested too deep. `head` has
   * its first 200 characters.
   */
  | {
      readonly kind: "unread";
      readonly why: "noise" | "too_large";
      readonly bytes: number;
      readonly head: string;
    };

export type WaitingEvent = Extract<LaunchEvent, { kind: "waiting" }>;
export type UnreadEvent = Extract<LaunchEvent, { kind: "unread" }>;
