// What `parley serve` prints when it listens: where clients find it, and the lines to paste.

import { networkInterfaces } from "node:os";
import { basename, resolve } from "node:path";
import { optional } from "@parley/acp/jsonrpc";
import type { Gateway } from "@parley/gateway";
import type { Invocation } from "../command/command.ts";
import { listOption, textOption } from "../command/option-values.ts";
import { editionsOption } from "../settings/edition-choice.ts";
import { commandToType } from "../settings/installation.ts";
import type { ServeLog } from "./serve-log.ts";

export interface Announced {
  readonly gateway: Pick<Gateway, "url" | "token" | "port">;
  readonly agent: string;
  readonly values: Invocation["values"];
  /** Whether the user has given the token. */
  readonly isTokenKnown: boolean;
}

export function announce({ gateway, agent, values, isTokenKnown }: Announced, { say }: ServeLog): void {
  const file = textOption(values, "token-file");
  const tokenFile = file === undefined ? undefined : resolve(file);
  const url = publicAddress(gateway.url, values);
  const isProxied = url !== gateway.url;
  say(
    `serving ${agent} at\n  ${url}${isProxied ? `\n  (behind the proxy; port ${gateway.port} here)` : ""}`,
    {
      type: "listening",
      url,
      agent,
      port: gateway.port,
      ...optional({ tokenFile }),
    },
  );
  const others = isProxied ? [] : otherAddresses(gateway, values);
  if (others.length > 0)
    say(`other machines use a name of the certificate (--allow-host NAME), or\n  ${others.join("\n  ")}`, {
      type: "addresses",
      urls: others,
    });
  if (!isTokenKnown) say(`token\n  ${gateway.token}`, { type: "token", token: gateway.token });
  const parley = commandToType();
  const [edition, second] = editionsOption(values) ?? ["v1"];
  const isDialect = second === undefined && edition !== "v1" && edition !== "v2";
  const option = [
    tokenFile === undefined ? "" : ` --token-file ${shellWord(tokenFile)}`,
    // who does not name a dialect is not understood
    isDialect ? ` --edition ${edition}` : "",
  ].join("");
  const command = `${parley} connect${option} ${url}`;
  const run = `${parley} run${option} --url ${url} "PROMPT"`;
  const where =
    tokenFile === undefined
      ? "with the token in the variable PARLEY_TOKEN"
      : "the token file is one of this machine: elsewhere, copy it or set PARLEY_TOKEN";
  say(`the agent's command in an editor (${where})\n  ${command}`, { type: "command", command });
  say(`or one prompt from a shell\n  ${run}`, { type: "run", command: run });
}

/** A proxy in front has the first name that is allowed, and encrypts. */
function publicAddress(url: string, values: Invocation["values"]): string {
  const [name] = listOption(values, "allow-host");
  if (values["behind-proxy"] !== true || name === undefined) return url;
  return new URL(`https://${name}${new URL(url).pathname}`).href;
}

/** Where the machine itself can be reached, if the server listens on all of its addresses. */
function otherAddresses({ url, port }: Announced["gateway"], values: Invocation["values"]): string[] {
  const host = textOption(values, "host");
  if ((host !== "0.0.0.0" && host !== "::") || listOption(values, "allow-host").length > 0) return [];
  const { protocol, pathname } = new URL(url);
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const reachable = all.filter(
    ({ internal, family, address }) =>
      !internal && (family === "IPv4" || (host === "::" && !address.startsWith("fe80"))),
  );
  return reachable.map(
    ({ family, address }) =>
      `${protocol}//${family === "IPv6" ? `[${address}]` : address}:${port}${pathname}`,
  );
}

const interpreters = /^(?:node|nodejs|bun|deno|python[\d.]*|uv|uvx|npx|tsx|ruby|perl|sh|bash)(?:\.exe)?$/;

/** What to call an agent that is started by a command: the script, not what interprets it. */
export function agentName(name: string, argv: readonly string[]): string {
  const [program = "", ...args] = argv;
  if (!interpreters.test(basename(program))) return name;
  const script = args.find((each) => !each.startsWith("-") && each !== "run" && each !== "x");
  return script === undefined || /\s/.test(script) ? name : basename(script);
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
