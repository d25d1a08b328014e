// Serves the coding agent on stdin and stdout.

import { dirname, join } from "node:path";
import { isatty } from "node:tty";
import { optional, withTimeout } from "@parley/acp/jsonrpc";
import { sqliteStore, stdioTransport } from "@parley/acp/node";
import { codingAgent } from "@parley/agent";
import { commandHooks } from "@parley/agent/config";
import { credentialsFile, openAccount } from "@parley/agent/models";
import { editionNamed } from "@parley/dialects";
import type { Invocation } from "../command/command.ts";
import {
  configPath,
  credentialsPath,
  isFirstToday,
  mcpLoginsFolder,
  ownSessionsPath,
  stateFolder,
} from "../settings/data-folder.ts";
import { editionsOption, lossesIn } from "../settings/edition-choice.ts";
import { ownVersion } from "../settings/installation.ts";
import { ownServers } from "../settings/own-mcp.ts";
import { sandboxChoice } from "../settings/sandbox-choice.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { knownModels, readAgentConfig, withMode, withModelErrors } from "./agent-settings.ts";

export async function serve(values: Invocation["values"]): Promise<number> {
  const config = withMode(readAgentConfig(), values);
  const { model } = values;
  const hasHistory = values["no-history"] !== true;
  // the user is told once a day that the model is offline
  const hasNotice = values["no-notice"] !== true;
  const version = ownVersion();
  const { mode, effort, autoApprove, maxTurnRequests: maxRequests, compactAt, privateHosts } = config;
  const [first, ...others] = editionsOption(values) ?? [];
  const editions = first && ([editionNamed(first), ...others.map(editionNamed)] as const);
  const credentials = credentialsFile(credentialsPath());
  const env = { ...process.env };
  // they may have any name, by which a sandbox does not know a key, so no command inherits them
  for (const { apiKeyEnv } of Object.values(config.providers ?? {}))
    if (apiKeyEnv !== undefined) delete process.env[apiKeyEnv];
  // fails before anything is served
  const account = withModelErrors("agent", () =>
    openAccount({
      config,
      env,
      credentials,
      registry: knownModels(),
      ...(typeof model === "string" && { model }),
    }),
  );
  const own = ownServers(config, env);
  // loaded for the one dialect whose clients name servers of other agents
  const mcpAgents = editionsOption(values)?.includes("scoped")
    ? (await import("./hosting-agents.ts")).hostingAgents()
    : undefined;
  const agent = codingAgent({
    auth: account.login,
    configured: account.models,
    discover: account.discover,
    version,
    userFolder: dirname(configPath()),
    ...(config.hooks && { hooks: commandHooks(config.hooks) }),
    mcp: {
      ...own,
      loginFolder: mcpLoginsFolder(),
      ofFolder: async (folder) =>
        (await import("../trust/trusted-servers.ts")).folderServers(folder, own.servers),
    },
    ...(hasHistory && {
      store: sqliteStore({ path: ownSessionsPath() }),
      undoFolder: join(stateFolder(), "review"),
    }),
    offlineNotice: () => hasNotice && isFirstToday("offline-notice"),
    lastingGrants: async () => (await import("./lasting-grants.ts")).lastingGrants(),
    loginShell: config.loginShell ?? true,
    ...optional({ mode, effort, autoApprove, maxRequests, compactAt, privateHosts }),
    ...optional({ sandbox: sandboxChoice(values) ?? config.sandbox, editions, mcpAgents }),
    log: (level, message, data) => {
      if (level !== "error" && level !== "warn") return;
      const lost = lossesIn(data);
      if (lost.length === 0) console.error(`parley agent: ${message}`, data ?? "");
      for (const what of lost) console.error(`parley agent: ${escapedLine(`${message}: ${what}`)}`);
    },
  });
  // process.stdin would be a second reader of the wire
  if (isatty(0)) {
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
