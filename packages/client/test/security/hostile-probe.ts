// For the security tests: a workspace, an agent that attempts things, and the count of what must never happen.

import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { CreateTerminalOptions, ToolKind } from "@parley/acp/model";
import type { CommandEntry } from "@parley/client/launch";
import { programFile } from "../../../acp/test/support/programs.ts";
import { manageAgent } from "../../src/internal.ts";
import { type Gate, type GateOptions, permissionGate } from "../../src/policy.ts";

/** What the agent is told to do. */
export type Attempt =
  | { readonly act: "read"; readonly path: string }
  | { readonly act: "write"; readonly path: string; readonly content: string }
  | ({ readonly act: "run" } & Pick<CreateTerminalOptions, "command" | "args" | "cwd" | "env" | "_meta">)
  | {
      readonly act: "ask";
      readonly title: string;
      readonly kind: ToolKind;
      readonly rawInput?: unknown;
      readonly locations?: { path: string }[];
      readonly diff?: { readonly path: string; readonly newText: string };
    }
  | { readonly act: "environment" };

export interface Attempted {
  readonly value?: string;
  readonly code?: number;
}

export const secret = "CANARY-outside-the-workspace\n";

export interface Ground {
  /** `base/w`, the workspace. */
  readonly root: string;
  readonly outside: string;
  at(path: string): string;
  put(path: string, content: string): string;
  /** What there is outside, with contents. */
  outsideNow(): string;
}

export function ground(t: TestContext): Ground {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-security-")));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "w");
  const outside = join(base, "outside");
  for (const folder of [root, outside, join(outside, "sub"), join(base, "w-evil")]) mkdirSync(folder);
  for (const path of ["outside/secret", "outside/sub/secret", "w-evil/secret"])
    writeFileSync(join(base, path), secret);
  const at = (path: string) => `${root}/${path}`;
  return {
    root,
    outside,
    at,
    put(path, content) {
      mkdirSync(join(at(path), ".."), { recursive: true });
      writeFileSync(at(path), content);
      return at(path);
    },
    outsideNow: () => JSON.stringify(["outside", "w-evil"].map((name) => contents(join(base, name)))),
  };
}

function contents(folder: string): unknown {
  return readdirSync(folder, { withFileTypes: true })
    .map((entry) => {
      const path = join(folder, entry.name);
      return [
        entry.name,
        entry.isDirectory() ? contents(path) : entry.isFile() ? readFileSync(path, "utf8") : "other",
      ];
    })
    .sort();
}

export const hostileEntry: CommandEntry = {
  name: "hostile",
  origin: "command",
  transport: "stdio",
  command: process.execPath,
  args: ["--conditions=parley-source", programFile("client/test/security/hostile-agent.ts")],
};

export interface Hostile {
  readonly gate: Gate;
  readonly pid: number;
  attempt(attempts: readonly Attempt[]): Promise<readonly Attempted[]>;
}

/** The agent as a process, with a gate between it and this machine. */
export async function hostile(
  t: TestContext,
  root: string,
  options: GateOptions,
  entry: CommandEntry = hostileEntry,
): Promise<Hostile> {
  const gate = permissionGate(options);
  const agent = await manageAgent(entry, {
    name: "test",
    version: "1.0.0",
    editions: ["v1"],
    policy: gate,
  });
  t.after(() => agent.close());
  let said = "";
  const session = await agent.newSession({
    cwd: root,
    onUpdate(update) {
      if (update.sessionUpdate !== "agent_message_chunk" || !("content" in update)) return;
      const content = update["content"] as { type: string; text?: string }; // as the model has it
      if (content.type === "text") said += content.text;
    },
  });
  return {
    gate,
    pid: agent.pid ?? 0,
    async attempt(attempts) {
      said = "";
      const outcome = await session.prompt(JSON.stringify(attempts)).result;
      assert.equal(outcome.stopReason, "end_turn");
      return JSON.parse(said) as Attempted[]; // what hostile-agent.ts says
    },
  };
}

/** Prints the count, and fails where there is anything to count. */
export function tally(t: TestContext, what: string, attempts: number, violations: readonly string[]): void {
  t.diagnostic(`security: ${what}: ${attempts} attempts, ${violations.length} violations`);
  assert.deepEqual(violations, []);
}
