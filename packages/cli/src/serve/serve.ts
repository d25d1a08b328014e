// `parley serve`: hosts an agent for remote clients.

import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { optional } from "@parley/acp/jsonrpc";
import { agentEnvironment, findAgentProgram, reachAgent } from "@parley/client/launch";
import {
  type Gateway,
  GatewayOptionError,
  hostAgent,
  type StartedAgent,
  startGateway,
} from "@parley/gateway";
import { CommandError, type Invocation, usageError, watchOutput } from "../command/command.ts";
import { countOption, directoryOption, listOption, parseTime, textOption } from "../command/option-values.ts";
import { configuredRules, mountsOf } from "../permissions/policy-rules.ts";
import type { Front } from "../proxy/chain-front.ts";
import { editionsOption } from "../settings/edition-choice.ts";
import { type ChosenAgent, chooseAgent, isOwnAgent } from "../settings/named-agent.ts";
import { givenOrNewToken } from "../settings/token-source.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { agentName, announce } from "./serve-announce.ts";
import { type ServeLog, serveLog } from "./serve-log.ts";

const help = "see parley help serve";
/** How long open requests may take after the first signal. */
const finishMs = 30_000;

export async function run({ values, words, argv, json }: Invocation): Promise<number> {
  const name = textOption(values, "agent");
  if (words.length > 0) throw usageError(`unexpected argument ${escapedLine(words[0] ?? "")}`, help);
  if (name !== undefined && argv.length > 0)
    throw usageError("expected either --agent or a command after --, got both", help);
  const chosen = speaking(chooseAgent(name, argv), values);
  checkProgram(chosen, directoryOf(values));
  const output = serveLog(json);
  const front = await frontOf(values, output);
  // a terminal that was closed, or a reader that has gone, must not end the server
  watchOutput(() => undefined);
  const hosted = hostAgent({
    start: ({ connectionId }) => startAgent(chosen, values, { connectionId, output, front }),
    allowCommands: values["allow-commands"] === true,
    useClientFiles: values["client-files"] === true,
    maxProcesses: countOption(values, "max-agents", 100),
    log: output.log,
  });
  const token = givenOrNewToken(values);
  // whatever fails from here on, the port is closed: a server that nobody knows of must not go on
  await using gateway = await opened(values, {
    connect: hosted.connect,
    graceMs: graceOf(values),
    plainPost: values["plain-post"] === true,
    host: textOption(values, "host"),
    port: portOf(values),
    tls: certificate(values),
    behindProxy: values["behind-proxy"] === true,
    allowedOrigins: listOption(values, "allow-origin").map(originOf),
    allowedHosts: listOption(values, "allow-host").map(hostName),
    log: output.log,
    ...optional({ token }),
  });
  const agent = agentName(chosen.entry.name, argv);
  announce({ gateway, agent, values, isTokenKnown: token !== undefined }, output);
  await stopped(async () => {
    gateway.stopAccepting();
    output.log("info", stoppingText(hosted.busy), {});
    await hosted.idle(finishMs);
  });
  await gateway.close("the server was shut down");
  await hosted.ended();
  output.log("info", "stopped", {});
  return 0;
}

/** Our own agent is told what to speak; others speak what they speak. */
function speaking(chosen: ChosenAgent, values: Invocation["values"]): ChosenAgent {
  const editions = editionsOption(values);
  if (editions === undefined) return chosen;
  const { entry } = chosen;
  if (entry.transport !== "stdio" || !isOwnAgent(entry))
    throw usageError(
      `--edition is for Parley's own agent; ${escapedLine(entry.name)} speaks its own edition`,
      "to serve it in another one: parley serve -- parley bridge --as EDITION -- COMMAND",
    );
  return { ...chosen, entry: { ...entry, args: [...entry.args, "--edition", editions.join(",")] } };
}

function stoppingText(busy: number): string {
  const who = busy === 1 ? "1 agent is busy, and has" : `${busy} agents are busy, and have`;
  const rest =
    busy === 0 ? "" : `; ${who} up to ${finishMs / 1_000} s to finish; a second Ctrl-C ends it at once`;
  return `stopping: no new clients${rest}`;
}

function graceOf(values: Invocation["values"]): number | undefined {
  const given = textOption(values, "grace");
  if (given === undefined) return undefined;
  const ms = parseTime(given, ["s", "m", "h"]);
  if (ms !== undefined && ms < 2 ** 31) return ms;
  const isBare = /^[\d.]+$/.test(given);
  throw usageError(
    `--grace: expected a time such as 90s, 10m or 1h, got ${escapedLine(given)}`,
    isBare ? "add the unit: s, m or h" : help,
  );
}

function hostName(given: string): string {
  if (/^[^/?#@\\\s]+$/.test(given) && URL.canParse(`http://${given}/`)) return given;
  throw usageError(
    `--allow-host: expected a name such as agents.example.org, got ${escapedLine(given)}`,
    "give the name, or NAME:PORT, without a scheme and a path",
  );
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
  if ("path" in findAgentProgram(command, agentEnvironment(entry, process.env), cwd)) return;
  const hint = install === undefined ? "install it, or give the full path" : `install it: ${install}`;
  throw new CommandError("not_found", `cannot start ${escapedLine(command)}`, hint, 5);
}

/** What `--chain` and `--proxy` put in front of each agent. */
async function frontOf(values: Invocation["values"], { log }: ServeLog): Promise<Front | undefined> {
  if (values["chain"] === undefined && values["proxy"] === undefined) return undefined;
  const { chainFront } = await import("../proxy/chain-front.ts");
  const voice = {
    say: (text: string) => log("warn", text, {}),
    stderr: (text: string) => log("info", "stderr of a proxy", { text: text.trimEnd() }),
  };
  return chainFront(values, voice, "--sandbox");
}

interface Started {
  readonly connectionId: string;
  readonly output: ServeLog;
  readonly front: Front | undefined;
}

async function startAgent(
  { entry, credentials }: ChosenAgent,
  values: Invocation["values"],
  { connectionId, output, front }: Started,
): Promise<StartedAgent> {
  const { log, stderr } = output;
  const cwd = directoryOf(values);
  const tokenFile = textOption(values, "token-file");
  const roots = [cwd];
  const { hide, readOnly } = mountsOf([...configuredRules({}), ...(front?.sandboxRules(cwd) ?? [])], roots);
  // an agent that could read the token could give it away
  const token = tokenFile === undefined ? [] : [resolve(tokenFile)];
  const sandbox = { roots, hide: [...hide, ...token], readOnly };
  const { transport, pid, released } = await reachAgent(entry, {
    cwd,
    env: credentials,
    front,
    ...(values["sandbox"] === true && { sandbox }),
    onEvent(event) {
      if (event.kind === "stderr") stderr(connectionId, event.text);
      if (event.kind === "left_behind")
        log("warn", "the agent left files behind", { connectionId, ...event });
    },
  });
  return { transport, ...optional({ pid, gone: released }) };
}

async function opened(
  values: Invocation["values"],
  options: Parameters<typeof startGateway>[0],
): Promise<Gateway> {
  try {
    return await startGateway(options);
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException; // what listening rejects with
    if (/^ERR_(?:OSSL|SSL|TLS|CRYPTO)/.test(code))
      throw usageError(
        `the certificate or key file is wrong: ${escapedLine(message)}`,
        "give PEM files: the certificate with --tls-cert, and its key with --tls-key",
      );
    if (error instanceof GatewayOptionError) {
      const { option, reason } = error;
      if (option === "host")
        throw usageError(
          reason,
          "use --tls-cert and --tls-key, or --behind-proxy if a proxy in front encrypts",
        );
      throw usageError(option === "token" ? `${tokenSource(values)}: ${reason}` : reason, help);
    }
    if (code === "") throw error;
    throw new CommandError("no_port", `cannot listen: ${message}`, "choose another --port or --host");
  }
}

function tokenSource(values: Invocation["values"]): string {
  const file = textOption(values, "token-file");
  return file === undefined ? "PARLEY_TOKEN" : `--token-file ${escapedLine(file)}`;
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
