// What a session needs of the connection to its client.

import type { AgentWire } from "./agent-wire.ts";

/** Sends what a session says. A session that lives on is attached to another sender when its client reconnects. */
export type SessionSender = Pick<
  AgentWire,
  | "edition"
  | "client"
  | "saidRules"
  | "openUrls"
  | "log"
  | "checkUpdate"
  | "sendChecked"
  | "sendUpdate"
  | "request"
  | "notify"
  | "requestExtension"
>;
