// `parley agent`: serves the coding agent on stdin and stdout, or prints an editor's settings.

import { join } from "node:path";
import { optional, withTimeout } from "@parley/acp/internal";
import type { AgentConfig } from "@parley/agent/internal";
import type { Invocation } from "../command/command.ts";
import { ownVersion } from "../settings/installation.ts";

export async function run(invocation: Invocation): Promise<number | undefined> {
  const { setup, login, model } = invocation.values;
  if (typeof setup === "string") return printSetup(setup);
  if (typeof login === "string") {
    const { logIn } = await import("./agent-login.ts");
    return logIn({ provider: login, check: false, json: false });
  }
  const { readAgentConfig, withMode } = await import("./agent-config.ts");
  const config = withMode(await readAgentConfig(), invocation.values);
  return serve(config, {
    hasHistory: invocation.values["no-history"] !== true,
    hasNotice: invocation.values["no-notice"] !== true,
    model: typeof model === "string" ? model : undefined,
  });
}

async function printSetup(editor: string): Promise<number> {
  const { usageError, watchOutput } = await import("../command/command.ts");
  const { editors, setupFor } = await import("./agent-setup.ts");
  const { launcher } = await import("../settings/installation.ts");
  const setup = setupFor(editor, launcher);
  if (setup === undefined) {
    throw usageError(
      `--setup: expected one of ${editors.join(", ")}, got ${editor}`,
      "see parley help agent",
    );
  }
  watchOutput();
  // stdout has only the block, so that it can be piped
  process.stderr.write(`Put this into ${setup.where}:\n`);
  process.stdout.write(`${setup.block}\n`);
  return 0;
}

interface ServeOptions {
  readonly model: string | undefined;
  /** Sessions are stored. */
  readonly hasHistory: boolean;
  /** The user is told once a day that the model is offline. */
  readonly hasNotice: boolean;
}

async function serve(config: AgentConfig, { model, hasHistory, hasNotice }: ServeOptions): Promise<number> {
  const [{ codingAgent }, accounts, { sqliteStore, stdioTransport }, { credentialsPath, dataFolder, isFirstToday }] =
    await Promise.all([
      import("@parley/agent"),
      import("@parley/agent/internal"),
      import("@parley/acp/node"),
      import("../settings/data-folder.ts"),
    ]);
  const version = ownVersion();
  const { mode, effort, autoApprove, maxTurnRequests: maxRequests, privateHosts } = config;
  const credentials = accounts.credentialsFile(credentialsPath());
  const { withModelErrors } = await import("./agent-config.ts");
  // fails before anything is served
  const account = await withModelErrors("agent", () =>
    accounts.openAccount({ config, env: process.env, credentials, ...(model && { model }) }),
  );
  const agent = codingAgent({
    auth: account.login,
    configured: account.models,
    version,
    ...(hasHistory && { store: sqliteStore({ path: join(dataFolder(), "sessions.db") }) }),
    offlineNotice: () => hasNotice && isFirstToday("offline-notice"),
    ...optional({ mode, effort, autoApprove, maxRequests, privateHosts }),
    log: (level, message, data) => {
      if (level === "error" || level === "warn") console.error(`parley agent: ${message}`, data ?? "");
    },
  });
  if (process.stdin.isTTY) {
    process.stderr.write(
      "parley agent speaks ACP on stdin and stdout and is waiting for an editor; see parley help agent\n",
    );
  }
  await agent.connect(stdioTransport()).closed;
  // the editor is gone: end whatever still runs
  await withTimeout(closeMs, agent.close()).catch((error: unknown) => {
    console.error("parley agent: the sessions could not be closed", error);
  });
  process.exit();
}

/** How long the store may take to close. */
const closeMs = 1_000;
