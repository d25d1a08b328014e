// The tools of a client for an agent in a sandbox: by a command, through a socket in a folder that the agent sees.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { McpKit } from "@parley/acp/model";
import type { AgentEntry } from "../agents/agent-spec.ts";
import { type AgentSandbox, wantedSandbox } from "./agent-sandbox.ts";
import type { LaunchOptions } from "./launch-agent.ts";

interface SandboxedBridge {
  readonly mcp: McpKit;
  readonly sandbox: AgentSandbox;
  /** Removes the folder. */
  close(): void;
}

/** Undefined for an agent without a sandbox, and without a kit. */
export function sandboxedBridge(
  entry: AgentEntry,
  { definition: { mcp: kit }, sandbox: given, cwd = process.cwd() }: LaunchOptions,
): SandboxedBridge | undefined {
  const sandbox = kit && wantedSandbox(entry, given);
  if (kit === undefined || sandbox === undefined) return undefined;
  const { roots = [cwd] } = sandbox;
  // sandboxes have a /tmp of their own, so only this folder is seen
  const socketFolder = realpathSync(mkdtempSync(join(tmpdir(), "parley-tools-")));
  return {
    // the sandbox may have a network of its own
    mcp: { ...kit, bridge: (agent) => kit.bridge({ ...agent, http: false, socketFolder }) },
    sandbox: { ...sandbox, roots: [...roots, socketFolder] },
    close: () => rmSync(socketFolder, { recursive: true, force: true }),
  };
}
