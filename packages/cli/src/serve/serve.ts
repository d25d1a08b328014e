// `parley serve`: hosts an agent for remote clients.

import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { optional } from "@parley/acp/internal";
import { agentEnvironment, findProgram, reachAgent } from "@parley/client/internal";
import { type Gateway, hostAgent, type StartedAgent, startGateway } from "@parley/gateway";
import { CommandError, type Invocation, usageError } from "../command/command.ts";
import { directoryOption, listOption, textOption } from "../command/option-values.ts";
import { type ChosenAgent, chooseAgent } from "../settings/named-agent.ts";
import { givenOrNewToken } from "../settings/token-source.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { type ServeLog, serveLog } from "./serve-log.ts";

const help = "see parley help serve";
/** How long open requests may take after the first signal. */
const finishMs = 30_000;

export async function run({ values, words, argv, json }: Invocation): Promise<number> {
  const name = textOption(values, "agent");
  if (words.length > 0) throw usageError(`unexpected argument ${escapedLine(words[0] ?? "")}`, help);
  if (name !== undefined && argv.length > 0)
    throw usageError("expected either --agent or a command after --, got both", help);
  const chosen = chooseAgent(name, argv);
  checkProgram(chosen, directoryOf(values));
  const output = serveLog(json);
  const hosted = hostAgent({
    start: ({ connectionId }) => startAgent(chosen, values, connectionId, output),
    allowsCommands: values["allow-commands"] === true,
    usesClientFiles: values["client-files"] === true,
    log: output.log,
  });
  const token = givenOrNewToken(values);
  const gateway = await opened({
    connect: hosted.connect,
    host: textOption(values, "host"),
    port: portOf(values),
    tls: certificate(values),
    isBehindProxy: values["behind-proxy"] === true,
    allowedOrigins: listOption(values, "allow-origin").map(originOf),
    allowedHosts: listOption(values, "allow-host"),
    log: output.log,
    ...optional({ token }),
  });
  announce(gateway, chosen, values, output, token !== undefined);
  await stopped(async () => {
    gateway.stopAccepting();
    output.log("info", "stopping: no new clients; open requests may finish", {});
    await hosted.idle(finishMs);
  });
  await gateway.close();
  await hosted.ended();
  output.log("info", "stopped", {});
  return 0;
}

function directoryOf(values: Invocation["values"]): string {
  const cwd = directoryOption(values) ?? process.cwd();
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true) return cwd;
  throw usageError(`--cwd: ${escapedLine(cwd)} is not a directory`, help);
}

/** Whoever starts the server learns of it, rather than the first client. */
function checkProgram({ entry }: ChosenAgent, cwd: string): void {
  if (entry.transport !== "stdio") return;
  const { command, install } = entry;
  if ("path" in findProgram(command, agentEnvironment(entry, process.env), cwd)) return;
  const hint = install === undefined ? "install it, or give the full path" : `install it: ${install}`;
  throw new CommandError("not_found", `cannot start ${escapedLine(command)}`, hint, 5);
}

async function startAgent(
  { entry, credentials }: ChosenAgent,
  values: Invocation["values"],
  connectionId: string,
  { log }: ServeLog,
): Promise<StartedAgent> {
  const cwd = directoryOf(values);
  const tokenFile = textOption(values, "token-file");
  // an agent that could read the token could give it away
  const sandbox = { roots: [cwd], hide: tokenFile === undefined ? [] : [resolve(tokenFile)] };
  const { transport, pid, released } = await reachAgent(entry, {
    cwd,
    env: credentials,
    ...(values["sandbox"] === true && { sandbox }),
    onEvent(event) {
      if (event.kind === "stderr")
        log("info", "stderr of the agent", { connectionId, text: event.text.trimEnd() });
      if (event.kind === "left_behind")
        log("warn", "the agent left files behind", { connectionId, ...event });
    },
  });
  return { transport, ...optional({ pid, gone: released }) };
}

async function opened(options: Parameters<typeof startGateway>[0]): Promise<Gateway> {
  try {
    return await startGateway(options);
  } catch (error) {
    if (error instanceof TypeError) throw usageError(error.message.replace(/^startGateway: /, ""), help);
    const { code, message } = error as NodeJS.ErrnoException; // what listening rejects with
    if (code === undefined) throw error;
    throw new CommandError("no_port", `cannot listen: ${message}`, "choose another --port or --host");
  }
}

function announce(
  { url, token }: Gateway,
  { entry }: ChosenAgent,
  values: Invocation["values"],
  { say }: ServeLog,
  isKnown: boolean,
): void {
  const file = textOption(values, "token-file");
  const tokenFile = file === undefined ? undefined : resolve(file);
  say(`serving ${entry.name} at\n  ${url}`, {
    type: "listening",
    url,
    agent: entry.name,
    ...optional({ tokenFile }),
  });
  if (!isKnown) say(`token\n  ${token}`, { type: "token", token });
  const how =
    tokenFile === undefined ? "parley connect" : `parley connect --token-file ${shellWord(tokenFile)}`;
  const where = tokenFile === undefined ? " (with the token in the variable PARLEY_TOKEN)" : "";
  const command = `${how} ${url}`;
  say(`the agent's command in an editor${where}\n  ${command}`, { type: "command", command });
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Resolves when it was asked to stop and has finished, or was asked twice. */
async function stopped(finish: () => Promise<void>): Promise<void> {
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  let count = 0;
  const stop = () => (++count === 1 ? first : second).resolve();
  for (const signal of signals) process.on(signal, stop);
  await first.promise;
  await Promise.race([finish(), second.promise]);
}

function portOf(values: Invocation["values"]): number {
  const given = textOption(values, "port") ?? "0";
  if (/^\d{1,5}$/.test(given) && Number(given) < 65_536) return Number(given);
  throw usageError(`--port: expected a number from 0 to 65535, got ${escapedLine(given)}`, help);
}

function originOf(given: string): string {
  if (URL.canParse(given) && new URL(given).origin === given) return given;
  throw usageError(
    `--allow-origin: expected an origin such as https://app.example.org, got ${escapedLine(given)}`,
    "give scheme, host and port only, without a path",
  );
}

function certificate(values: Invocation["values"]): { cert: string; key: string } | undefined {
  const [cert, key] = [textOption(values, "tls-cert"), textOption(values, "tls-key")];
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined)
    throw usageError("expected --tls-cert and --tls-key together, got one of them", help);
  return { cert: read("tls-cert", cert), key: read("tls-key", key) };
}

function read(name: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // what it throws for a text path
    throw usageError(`--${name}: cannot read ${escapedLine(file)}: ${code}`, help);
  }
}
