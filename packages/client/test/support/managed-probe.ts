// For tests: a managed agent whose starts are scripted one by one.

import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { CommandEntry } from "@parley/client/launch";
import type { AgentScenario } from "@parley/conformance/testing";
import { programCommand } from "../../../acp/test/support/programs.ts";
import type { ManagedAgentEvent } from "../../src/index.ts";
import { type ManageAgentOptions, manageAgent } from "../../src/internal.ts";

export const patience = { timeout: 60_000 };

/** What the agent does in one run: a scenario, or less than that. */
export interface Life {
  readonly play?: Partial<AgentScenario>;
  readonly stderr?: string;
  readonly exit?: number;
  readonly silent?: boolean;
  /** Its sessions are kept in a file for its next life. */
  readonly keeps?: boolean;
}

export interface Start {
  readonly pid: number;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  readonly cwd: string;
}

/** An agent for each test; what it leaves is removed with it. */
export function scripted(t: TestContext, ...lives: readonly Life[]) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-client-test-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [index, life] of lives.entries())
    writeFileSync(join(folder, `${index + 1}.json`), JSON.stringify(life));
  const [command, ...args] = programCommand("client/test/support/scripted-peer.ts");
  const entry: CommandEntry = {
    name: "scripted",
    origin: "command",
    transport: "stdio",
    command,
    args: [...args, folder],
  };
  return {
    entry,
    folder,
    /** Every start so far. */
    starts(): readonly Start[] {
      const names = readdirSync(folder).filter((name) => name.startsWith("start-"));
      return names.sort().map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Start);
    },
  };
}

/** A managed agent with its events; closed with the test. */
export async function managed(
  t: TestContext,
  entry: CommandEntry,
  options: Partial<ManageAgentOptions> = {},
) {
  const events: ManagedAgentEvent[] = [];
  const waiting = new Set<() => void>();
  const agent = await manageAgent(entry, {
    name: "test",
    version: "1.0.0",
    backoffMs: 1,
    ...options,
    onEvent(event) {
      events.push(event);
      options.onEvent?.(event);
      if (event.kind === "crashed") for (const resolve of waiting) resolve();
    },
  });
  t.after(() => agent.close());
  // on a busy machine an agent is also waited for
  const kinds = () => events.map(({ kind }) => kind).filter((kind) => kind !== "waiting");
  /** Resolves with the next crash. */
  const crashed = () => new Promise<void>((resolve) => waiting.add(resolve));
  return { agent, events, kinds, crashed };
}

/** Steps that say one thing. */
export const say = (text: string) => [{ say: text }] as const;

/** A process that has ended and waits for its parent does not run. */
export function runs(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
