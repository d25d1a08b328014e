// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// Starts `parley agent` as an editor does, in its own home directory, and records all output.

import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { type ClientConnection, type ClientDefinition, client, type PermissionRequest } from "@parley/acp";
import type { ProtocolVersion } from "@parley/acp/internal";
import { type SpawnedTransport, spawnTransport } from "@parley/acp/node";
import { launcher } from "../../../acp/test/support/programs.ts";
import { keyVariables } from "../../src/model/key-variables.ts";

export { launcher };
export const patience = { timeout: 120_000 };

/** What would choose a model on the machine of whoever runs the tests. */
const foreign = [
  ...keyVariables,
  "ANTHROPIC_BASE_URL",
  "OPENAI_BASE_URL",
  "GOOGLE_VERTEX_PROJECT",
  "OLLAMA_HOST",
  "PARLEY_MODEL",
  "PARLEY_MODE",
  "PARLEY_RECORD",
];

type Env = Readonly<Record<string, string | undefined>>;

export interface Home {
  readonly path: string;
  readonly cwd: string;
  readonly env: Env;
  /** The agents that were started in it. */
  readonly children: SpawnedTransport[];
  /** Writes the config file. */
  configure(config: object | string): void;
  /** Below `path`. */
  read(file: string): string;
  /** Runs `parley` to its end. */
  run(args: readonly string[], input?: string, env?: Env): SpawnSyncReturns<string>;
}

export function home(t: TestContext): Home {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-agent-test-")));
  const children: SpawnedTransport[] = [];
  // agents write to their home until they have exited
  t.after(async () => {
    await Promise.all(children.map((child) => child.close()));
    rmSync(folder, { recursive: true, force: true });
  });
  // side by side: the agent takes what is in its own home for secret
  const path = join(folder, "home");
  const cwd = join(folder, "project");
  mkdirSync(path);
  mkdirSync(cwd);
  const env: Env = { ...Object.fromEntries(foreign.map((name) => [name, undefined])), PARLEY_HOME: path };
  return {
    path,
    cwd,
    env,
    children,
    configure(config) {
      const file = join(path, "config/config.json");
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof config === "string" ? config : JSON.stringify(config));
    },
    read: (file) => readFileSync(join(path, file), "utf8"),
    run(args, input = "", more = {}) {
      const own = { ...process.env, ...env, ...more };
      return spawnSync(launcher, args, { encoding: "utf8", cwd, env: own, input });
    },
  };
}

export interface Started {
  readonly agent: ClientConnection;
  readonly child: SpawnedTransport;
  readonly asks: PermissionRequest[];
  /** Everything that the agent has written: messages and stderr. */
  output(): string;
}

export interface StartOptions extends Partial<ClientDefinition> {
  /** Default: the launcher of the tests, which may start a bundle. */
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Env;
  /** Arguments before `agent`, such as those of a tap in front of it. */
  readonly before?: readonly string[];
}

/** Permissions are granted once, unless the definition says otherwise. Closed after the test. */
export async function start(
  t: TestContext,
  { env, cwd, children }: Home,
  version: ProtocolVersion,
  { command = launcher, args = [], env: more = {}, before = [], ...definition }: StartOptions = {},
): Promise<Started> {
  let output = "";
  // commands tell their pids, which in a sandbox are others
  const child = spawnTransport(command, [...before, "agent", "--sandbox", "off", ...args], {
    cwd,
    env: { ...env, ...more },
    onStderr: (text) => {
      output += text;
    },
  });
  children.push(child);
  t.after(() => child.close());
  const asks: PermissionRequest[] = [];
  const agent = await client({
    name: "test",
    version: "1",
    editions: [`v${version}`],
    requestPermission(ask) {
      asks.push(ask);
      return "allow_once";
    },
    ...definition,
    connection: {
      tap: (direction, text) => {
        if (direction === "in") output += `${text}\n`;
      },
      ...definition.connection,
    },
  }).connect(child);
  return { agent, child, asks, output: () => output };
}
