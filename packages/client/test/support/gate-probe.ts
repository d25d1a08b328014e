// For tests: an agent, a client with a gate, and a temporary folder.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { type AgentDefinition, agent, type ClientSession, client } from "@parley/acp";
import { memoryPair } from "@parley/acp/transport";
import {
  type Gate,
  type GateOptions,
  parseRule,
  permissionGate,
  type Rule,
  type RuleEffect,
} from "@parley/client/policy";

/** All kinds of tool calls. */
export const toolKinds = [
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "switch_mode",
  "other",
] as const;

/** `allow read src`, `deny exec rm`: the effect first, as people say it. */
export function rules(...texts: readonly string[]): Rule[] {
  return texts.map((text) => {
    const [effect = "", ...rest] = text.split(" ");
    return parseRule(rest.join(" "), { effect: effect as RuleEffect, origin: "user" });
  });
}

/** A folder with files, canonical. */
export function folder(t: TestContext, files: Readonly<Record<string, string>> = {}): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-gate-")));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(base, name)), { recursive: true });
    writeFileSync(join(base, name), content);
  }
  return base;
}

export interface Talk {
  readonly gate: Gate;
  readonly session: ClientSession;
  /** Sends a prompt and waits for the end of its turn. */
  go(): Promise<void>;
}

/** An agent of version 1 whose turns are `prompt`, and a client that asks the gate. */
export async function talk(
  t: TestContext,
  cwd: string,
  options: GateOptions,
  prompt: AgentDefinition["prompt"],
): Promise<Talk> {
  const gate = permissionGate(options);
  const [near, far] = memoryPair();
  agent({ name: "probe", version: "1.0.0", prompt, log: () => undefined }).connect(far);
  const connected = await client({
    name: "probe",
    version: "1.0.0",
    editions: ["v1"],
    policy: gate,
    log: () => undefined,
  }).connect(near);
  t.after(() => connected.close());
  const session = await connected.newSession({ cwd });
  return {
    gate,
    session,
    async go() {
      await session.prompt("go").result;
    },
  };
}
