// `parley proxy`: a chain of proxies as one agent on stdin and stdout, one proxy for somebody else's conductor, or the list.

import { isatty } from "node:tty";
import { optional } from "@parley/acp/jsonrpc";
import { serveStdio } from "@parley/acp/node";
import { type ChainComponent, conductor, type OnExit, type WatchHops } from "@parley/acp/proxy";
import type { Rule } from "@parley/client/policy";
import { type Invocation, printAnswer, usageError, watchOutput } from "../command/command.ts";
import { textOption } from "../command/option-values.ts";
import { configuredRules, mountsOf } from "../permissions/policy-rules.ts";
import { shippedProxies } from "../proxies/shipped-proxies.ts";
import type { ChainAgent } from "../proxies/shipped-proxy.ts";
import { readConfig } from "../settings/config-file.ts";
import { editionOption } from "../settings/edition-choice.ts";
import { printSetup } from "../settings/editor-setup.ts";
import { launcher } from "../settings/installation.ts";
import type { ChosenAgent } from "../settings/named-agent.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { columnsOf, wrapLine } from "../terminal/wrap-line.ts";
import { agentOf, reachedTransport } from "./chain-agent.ts";
import { chainLog } from "./chain-front.ts";
import type { ChainVoice } from "./chain-voice.ts";
import {
  chosenComponents,
  madeComponents,
  onExitWords,
  proxyFolder,
  sandboxRules,
  shippedNamed,
  typedComponents,
} from "./components.ts";

const help = "see parley help proxy";

export async function run({ values, words, argv, json }: Invocation): Promise<number> {
  if (values["reset"] === true) return reset(words, json);
  if (words.length === 0 && argv.length === 0 && values["chain"] === undefined) return list(json);
  if (json) throw usageError("--json is for the list: parley proxy --json", help);
  const chosen = argv.length === 0 ? undefined : agentOf(argv, editionOption(values));
  const components = [
    ...chosenComponents(optional({ chain: values["chain"] }), readConfig(warn)),
    ...typedComponents(words, onExitOf(values)),
  ];
  const known = chosen && knownAgent(chosen, values, sandboxRules(components, process.cwd()));
  const proxies = madeComponents(components, voice, known);
  if (proxies.length === 0)
    throw usageError(
      'expected a proxy in front of --: parley proxy "budget --tokens 200000" -- claude',
      help,
    );
  const editor = textOption(values, "setup");
  if (editor !== undefined) return setup(editor, values, words, argv);
  const agent = chosen && known && agentComponent(chosen, known);
  if (isatty(0)) {
    const waits =
      agent === undefined ? "another conductor; put an agent after -- to use it here" : "an editor";
    process.stderr.write(
      `parley proxy speaks ACP on stdin and stdout and is waiting for ${waits}; ${help}\n`,
    );
  }
  const record = textOption(values, "record");
  const command = ["parley", "proxy", ...words, "--", ...argv];
  const recorder =
    record === undefined
      ? undefined
      : (await import("../tap/hop-recorder.ts")).hopRecorder(record, { command, label: true, warn });
  const ended = (reason: string): void => warn(`the chain ends: ${reason}`);
  const chain = conductor(agent === undefined ? proxies : [...proxies, agent], {
    name: "parley proxy",
    log: chainLog({ ...voice, ended }),
    ...optional<{ watch: WatchHops | undefined }>({ watch: recorder?.watch }),
  });
  const close = async (): Promise<void> => {
    await chain.close();
    await recorder?.end();
  };
  await serveStdio({ ...chain, close });
  return 0;
}

const warn = (text: string): void => void process.stderr.write(`parley proxy: ${escapedLine(text)}\n`);

const voice: ChainVoice = { say: warn, stderr: (text) => void process.stderr.write(text) };

function onExitOf(values: Invocation["values"]): OnExit | undefined {
  const given = textOption(values, "on-exit") ?? "restart";
  const found = onExitWords.find((word) => word === given);
  if (found !== undefined) return found;
  throw usageError(`--on-exit: expected ${onExitWords.join(", ")}, got ${escapedLine(given)}`, help);
}

function knownAgent(
  { entry }: ChosenAgent,
  values: Invocation["values"],
  rules: readonly Rule[],
): ChainAgent {
  const isSandboxed = values["sandbox"] === true || (entry.transport === "stdio" && entry.sandbox === true);
  return { entry, isSandboxed, sandboxRules: rules, sandboxOption: "--sandbox" };
}

function agentComponent(
  chosen: ChosenAgent,
  { isSandboxed, sandboxRules: rules }: ChainAgent,
): ChainComponent {
  const roots = [process.cwd()];
  const start = () => {
    const sandbox = isSandboxed
      ? { roots, ...mountsOf([...configuredRules({}), ...rules], roots) }
      : undefined;
    return reachedTransport(chosen, voice, sandbox);
  };
  return { name: chosen.entry.name, start, onExit: "restart" };
}

function setup(
  editor: string,
  values: Invocation["values"],
  words: readonly string[],
  argv: readonly string[],
): number {
  if (argv.length === 0) throw usageError("--setup needs an agent after --", help);
  const options = ["chain", "on-exit", "edition", "record"].flatMap((name) => {
    const value = textOption(values, name);
    return value === undefined || (name === "on-exit" && value === "restart") ? [] : [`--${name}`, value];
  });
  const flags = values["sandbox"] === true ? ["--sandbox"] : [];
  const args = ["proxy", ...options, ...flags, ...words, "--", ...argv];
  const name = argv[0]?.split(/[\\/]/).at(-1) ?? "";
  printSetup(
    editor,
    { name: `${name} with Parley`, id: "parley-proxy", command: launcher, args, env: {} },
    help,
  );
  return 0;
}

function reset(words: readonly string[], json: boolean): number {
  const [name = "", more] = words;
  const resettable = shippedProxies.filter((each) => each.reset !== undefined);
  const found = more === undefined ? shippedNamed(name)?.reset : undefined;
  if (found === undefined)
    throw usageError(
      `--reset: expected one of ${resettable.map((each) => each.name).join(", ")}, got ${escapedLine(words.join(" ")) || "nothing"}`,
      help,
    );
  const said = found({ folder: proxyFolder(name) });
  return printAnswer(said, { proxy: name, message: said }, json);
}

function list(json: boolean): number {
  watchOutput();
  const columns = columnsOf(process.stdout);
  const rows = shippedProxies.map(({ name, summary, options }) => ({
    name,
    summary,
    options: Object.entries(options).map(([option, { value = "", summary: about }]) => ({
      label: `--${option} ${value}`,
      about,
    })),
  }));
  const indent = widest(rows.map(({ name }) => name));
  const width = indent + widest(rows.flatMap(({ options }) => options.map(({ label }) => label)));
  const row = (label: string, about: string, at: number) =>
    wrapLine(label.padEnd(at) + about, columns, " ".repeat(at));
  const text = rows.flatMap(({ name, summary, options }) => [
    row(name, summary, indent),
    ...options.map(({ label, about }) => row(" ".repeat(indent) + label, about, width)),
  ]);
  const use =
    'Use one: parley proxy "budget --tokens 200000" -- claude, or --proxy with run, chat and serve.';
  const data = shippedProxies.map(({ name, summary, options }) => ({ name, summary, options }));
  return printAnswer([...text, "", wrapLine(use, columns)].join("\n"), { proxies: data }, json);
}

/** With two spaces behind it. */
function widest(texts: readonly string[]): number {
  return Math.max(...texts.map(({ length }) => length)) + 2;
}
