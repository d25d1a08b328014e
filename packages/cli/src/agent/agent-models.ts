// `parley agent models`: lists the models that can be used now, and refreshes what is known of them.

import {
  credentialsFile,
  type ModelReport,
  modelReport,
  RegistryError,
  type ReportedModel,
  refreshRegistry,
} from "@parley/agent/models";
import { CommandError, type Invocation, printAnswer } from "../command/command.ts";
import { credentialsPath, registryPath } from "../settings/data-folder.ts";
import { columns } from "../terminal/columns.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { knownModels, readAgentConfig, withModelErrors } from "./agent-settings.ts";

export async function models({ values, json }: Invocation): Promise<number> {
  const config = readAgentConfig();
  const refreshed = values["refresh"] === true ? await refresh(config.registry) : undefined;
  const credentials = credentialsFile(credentialsPath()).key;
  const options = { credentials, isKeyOptional: true, registry: knownModels() };
  const report = await modelReport(config, process.env, options).catch((error: unknown) =>
    withModelErrors("agent models", () => {
      throw error;
    }),
  );
  const { servers } = report;
  const found = servers.map(({ id, url, models: listed }) => ({ provider: id, url, models: listed.size }));
  const data = { ...report, servers: found, ...(refreshed !== undefined && { refreshed }) };
  const note =
    refreshed === undefined ? "" : `Facts about ${refreshed} models were stored in ${registryPath()}.\n\n`;
  return printAnswer(`${note}${text(report)}`, data, json);
}

/** Returns the number of models. */
async function refresh(url: string | undefined): Promise<number> {
  try {
    const registry = await refreshRegistry({ path: registryPath(), url, env: process.env });
    return [...registry.values()].reduce((sum, listed) => sum + listed.size, 0);
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    const message = `the facts about models were not refreshed: ${escapedLine(error.message)}`;
    throw new CommandError(
      "registry",
      message,
      "nothing was changed; agent.registry in the config names another address",
    );
  }
}

function text({ models: listed, servers, withoutKey }: ModelReport): string {
  const heads = ["model", "window", "output", "price", "efforts", "takes", "key"];
  const variables = withoutKey.map(({ variable }) => variable).join(", ");
  const nothing = [
    "No model can be used yet, so the agent works offline.",
    `Set one of ${variables}, or start a model server on this machine; docs/models.md.`,
  ];
  const local = servers.map(({ id, url }) => `${id} answers at ${escapedLine(url)}.`);
  return [
    ...(listed.length === 0 ? nothing : columns([heads, ...listed.map(row)])),
    "",
    ...(local.length === 0 ? ["No model server answers on this machine."] : local),
  ].join("\n");
}

function row({ id, contextWindow, maxOutput, price, efforts = [], key, ...facts }: ReportedModel): string[] {
  const takes = [facts.takesImages && "images", facts.takesAudio && "audio", facts.takesDocuments && "pdf"];
  return [
    escapedLine(id),
    short(contextWindow),
    maxOutput === undefined ? "-" : short(maxOutput),
    price === undefined ? "-" : `$${price.input}/$${price.output}`,
    efforts.join(",") || "-",
    takes.filter((each) => each !== false && each !== undefined).join(",") || "text",
    key ?? "-",
  ];
}

/** 1048576 is 1.0M, 200000 is 200k. */
function short(tokens: number): string {
  return tokens < 1_000_000 ? `${Math.round(tokens / 1000)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}
