// Runs `parley` in a home of its own, with scripted agents.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import type { AgentScenario } from "@parley/conformance/testing";
import { launcher, programCommand } from "../../../acp/test/support/programs.ts";
import { runInProcess } from "./in-process.ts";

export const patience = { timeout: 120_000 };

export function agentHome(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-agents-test-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  // nothing that is installed on this machine is an agent here
  const environment = {
    PATH: "/usr/bin:/bin",
    HOME: folder,
    PARLEY_HOME: folder,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  };
  let scenarios = 0;
  const configFile = () => {
    const file = join(folder, "config/config.json");
    mkdirSync(dirname(file), { recursive: true });
    return file;
  };
  return {
    folder,
    configFile,
    credentialsFile: () => join(folder, "data/agent-credentials.json"),
    keep: (config: object) => writeFileSync(configFile(), JSON.stringify(config)),
    /** The argv of an agent that plays this. */
    agent(scenario: Partial<AgentScenario>): readonly string[] {
      scenarios += 1;
      const file = join(folder, `scenario-${scenarios}.json`);
      writeFileSync(file, JSON.stringify({ parley: "agent-scenario", version: 1, ...scenario }));
      return [...programCommand("conformance/test/support/scripted-agent-process.ts"), file];
    },
    /** Runs the command in this process. */
    parley: (args: readonly string[]) => runInProcess(args, { cwd: folder, env: environment }),
    /** Starts a process, as a shell does. */
    started(
      args: readonly string[],
      options: { readonly input?: string; readonly env?: NodeJS.ProcessEnv } = {},
    ) {
      const { status, stdout, stderr } = spawnSync(launcher, args, {
        encoding: "utf8",
        cwd: folder,
        env: { ...environment, ...options.env },
        input: options.input ?? "",
        timeout: 100_000,
      });
      return { status, stdout, stderr };
    },
  };
}
