// Connects the official SDK's client of either version to an agent's process.

import { RequestError } from "@agentclientprotocol/sdk";
import type { ExitStatus } from "@parley/acp/model";
import { interopCommand } from "./agent-command.ts";
import { register, sdkOf, senderOf, spawnStreams } from "./sdk-app.ts";
import { v1Client } from "./v1-client.ts";
import { v2Client } from "./v2-client.ts";
import { EventLog } from "./wire-script.ts";

/** Either version's agent, without the types of its methods. */
export interface AnyAgent {
  request(method: string, params: unknown, options?: { readonly signal?: AbortSignal }): Promise<unknown>;
  notify(method: string, params: unknown): Promise<void>;
}

export interface SdkClient {
  readonly agent: AnyAgent;
  readonly log: EventLog;
  readonly exited: Promise<ExitStatus>;
  /** What the agent's process wrote to stderr. */
  complaints(): string;
  /** Ends the agent's stdin, waits for its exit, leaves nothing behind. */
  close(): Promise<ExitStatus>;
}

export function connectSdkToApp(version: "v1" | "v2", ...args: string[]): Promise<SdkClient> {
  return connectSdk(version, interopCommand("app-agent.ts", ...args));
}

/** Takes the SDK's unstable entry, which has everything of the stable one and the fork of sessions. */
export async function connectSdk(
  version: "v1" | "v2",
  command: readonly [string, string[]],
): Promise<SdkClient> {
  const sdk = await sdkOf(version, true);
  const log = new EventLog();
  const wire = {
    peer: () => senderOf<never>(connection.agent),
    refuse: (code: number, message: string, data?: unknown) => new RequestError(code, message, data),
  };
  const app = sdk.client({ name: "interop-client" });
  register(app, version === "v1" ? v1Client(wire, log) : v2Client(wire, log));
  const [process, ...streams] = spawnStreams(...command);
  const connection = app.connect(sdk.ndJsonStream(...streams));
  const close = async () => {
    connection.close();
    await process.close();
    return process.exited;
  };
  return {
    agent: senderOf<AnyAgent>(connection.agent),
    log,
    exited: process.exited,
    complaints: () => process.stderrTail(),
    close,
  };
}
