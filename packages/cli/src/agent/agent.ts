// `parley agent`: the coding agent on stdin and stdout, as editors start it.

import { join } from "node:path";
import type { Agent } from "@parley/acp";
import type { AgentConfig } from "@parley/agent";
import type { Invocation } from "../command/command.ts";
import { ownVersion } from "../settings/installation.ts";
import { greeting } from "./agent-greeting.ts";

export async function run(invocation: Invocation): Promise<number | undefined> {
  const { setup, login, model } = invocation.values;
  if (typeof setup === "string") return printSetup(setup);
  if (typeof login === "string") {
    const { logIn } = await import("./agent-login.ts");
    return logIn({ provider: login, check: false, json: false });
  }
  const { readAgentConfig, SettingError, withFlags } = await import("./agent-config.ts");
  try {
    const config = withFlags(await readAgentConfig(), invocation.values);
    const isKept = invocation.values["no-history"] !== true;
    return await serve(config, { isKept, ...(typeof model === "string" ? { model } : {}) });
  } catch (error) {
    if (error instanceof SettingError) return refuse(error.message);
    throw error;
  }
}

async function printSetup(editor: string): Promise<number> {
  const { editors, setupFor } = await import("./agent-setup.ts");
  const { launcher } = await import("../settings/installation.ts");
  const setup = setupFor(editor, launcher);
  if (setup === undefined) {
    const { printable } = await import("../terminal/printable.ts");
    return refuse(`--setup takes one of ${editors.join(", ")}, got ${printable(editor)}`);
  }
  // stdout is the block alone, so that it can be piped
  process.stderr.write(`Put this into ${setup.where}:\n`);
  process.stdout.write(`${setup.block}\n`);
  return 0;
}

interface ServeOptions {
  readonly model?: string;
  /** Whether sessions outlive this process. */
  readonly isKept: boolean;
}

async function serve(config: AgentConfig, { model, isKept }: ServeOptions): Promise<number> {
  const [parley, { sqliteStore }, { credentialsPath, dataFolder }] = await Promise.all([
    import("@parley/agent"),
    import("@parley/acp/node"),
    import("../settings/data-folder.ts"),
  ]);
  const version = ownVersion();
  const { mode, effort, autoApprove, maxTurnRequests: maxRequests, privateHosts } = config;
  const credentials = parley.credentialsFile(credentialsPath());
  const account = await opened(parley, () =>
    parley.openAccount({ config, env: process.env, credentials, ...(model && { model }) }),
  );
  const agent = parley.codingAgent({
    ...account.login,
    configured: account.models,
    version,
    // without one, sessions live in memory
    ...(isKept && { store: sqliteStore({ path: join(dataFolder(), "sessions.db") }) }),
    ...(mode && { mode }),
    ...(effort && { effort }),
    ...(autoApprove && { autoApprove }),
    ...(maxRequests && { maxRequests }),
    ...(privateHosts && { privateHosts }),
    log: (level, message, data) => {
      if (level === "error" || level === "warn") console.error(`parley agent: ${message}`, data ?? "");
    },
  });
  if (process.stdin.isTTY) {
    process.stderr.write(
      "parley agent speaks ACP on stdin and stdout and waits for an editor; see parley help agent\n",
    );
  }
  await serveGreeted(agent);
  // the editor has gone, whatever still runs
  process.exit();
}

async function serveGreeted(agent: Agent): Promise<void> {
  const [{ stdioTransport }, { afterGreeting }, greeted] = await Promise.all([
    import("@parley/acp/node"),
    import("./greeted-transport.ts"),
    greeting(),
  ]);
  const { alreadyRead } = greeted;
  await agent.connect(afterGreeting(stdioTransport({ alreadyRead }), greeted)).closed;
}

/** A model that cannot be used is told before anybody is served. */
async function opened<T>({ ModelError }: typeof import("@parley/agent"), open: () => T): Promise<T> {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    const { SettingError } = await import("./agent-config.ts");
    throw new SettingError(error.message);
  }
}

function refuse(message: string): number {
  process.stderr.write(`parley: ${message}\nparley: see parley help agent\n`);
  return 2;
}
