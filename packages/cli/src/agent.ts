// `parley agent`: the coding agent on stdin and stdout, as editors start it.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readAgentConfig, SettingError, withFlags } from "./agent-config.ts";
import type { Invocation } from "./command.ts";
import { ownVersion } from "./own-version.ts";
import { printable } from "./wire-printer.ts";

export async function run(invocation: Invocation): Promise<number | undefined> {
  const { setup, login, model } = invocation.values;
  if (typeof setup === "string") return printSetup(setup);
  if (typeof login === "string") {
    const { logIn } = await import("./agent-login.ts");
    return logIn({ provider: login, check: false, json: false });
  }
  try {
    return await serve(invocation, typeof model === "string" ? model : undefined);
  } catch (error) {
    if (error instanceof SettingError) return refuse(error.message);
    throw error;
  }
}

async function printSetup(editor: string): Promise<number> {
  const { editors, setupFor } = await import("./agent-setup.ts");
  const launcher = fileURLToPath(new URL("../bin/parley", import.meta.url));
  const setup = setupFor(editor, launcher);
  if (setup === undefined)
    return refuse(`--setup takes one of ${editors.join(", ")}, got ${printable(editor)}`);
  // stdout is the block alone, so that it can be piped
  process.stderr.write(`Put this into ${setup.where}:\n`);
  process.stdout.write(`${setup.block}\n`);
  return 0;
}

async function serve({ values }: Invocation, model: string | undefined): Promise<number | undefined> {
  const [parley, { serveStdio, sqliteStore }, { credentialsPath, dataFolder }, written, version] =
    await Promise.all([
      import("@parley/agent"),
      import("@parley/acp/node"),
      import("./data-folder.ts"),
      readAgentConfig(),
      ownVersion(),
    ]);
  const config = withFlags(written, values);
  const { mode, effort, autoApprove, maxTurnRequests: maxRequests, privateHosts } = config;
  const credentials = parley.credentialsFile(credentialsPath());
  const account = opened(parley, () =>
    parley.openAccount({ config, env: process.env, credentials, ...(model && { model }) }),
  );
  const agent = parley.codingAgent({
    ...account.login,
    configured: account.models,
    version,
    store: sqliteStore({ path: join(dataFolder(), "sessions.db") }),
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
  // ends the process when the editor has gone
  await serveStdio(agent);
  return 0;
}

/** A model that cannot be used is told before anybody is served. */
function opened<T>({ ModelError }: typeof import("@parley/agent"), open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (error instanceof ModelError) throw new SettingError(error.message);
    throw error;
  }
}

function refuse(message: string): number {
  process.stderr.write(`parley: ${message}\nparley: see parley help agent\n`);
  return 2;
}
