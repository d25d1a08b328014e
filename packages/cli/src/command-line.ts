// Picks a command, parses its arguments by its table and runs it. Code is imported when it is needed, to start fast.

import { parseArgs } from "node:util";
import {
  type Command,
  CommandError,
  type Invocation,
  printAnswer,
  usageError,
  watchOutput,
} from "./command/command.ts";
import { withCommand } from "./command/implied-command.ts";
import { commands } from "./commands.ts";
import { escapedJson, messageLines } from "./terminal/sanitise.ts";
import { columnsOf } from "./terminal/wrap-line.ts";

/** Returns the exit code. */
export async function runCommandLine(given: readonly string[]): Promise<number> {
  let argv = given;
  try {
    argv = withTerminator(await withCommand(given, { commands, isAtTerminal, agentNames }));
    return (await dispatch(argv, outputOf(argv).json)) ?? 0;
  } catch (error) {
    watchOutput();
    const { isRun, json } = outputOf(argv);
    const { withoutSecrets } = await import("./settings/known-secrets.ts");
    const { exitCode, ...shown } = withoutSecrets(failureOf(error, json), argv);
    // the last line of a run is always its end
    const end = { v: 1, type: "end", exitCode, text: "", error: shown, durationMs: 0 };
    if (json) process.stdout.write(`${escapedJson(isRun ? end : { v: 1, error: shown })}\n`);
    else {
      const columns = columnsOf(process.stderr);
      for (const text of [shown.message, shown.hint])
        if (text !== "") process.stderr.write(messageLines(text, columns));
    }
    return exitCode;
  }
}

/** What the output consists of. */
function outputOf(argv: readonly string[]): { readonly isRun: boolean; readonly json: boolean } {
  const flags = beforeTerminator(argv);
  const isRun = flags.find((flag) => flag !== "--json") === "run";
  return { isRun, json: flags.includes("--json") || (isRun && wantsEvents(flags)) };
}

/** The agents that a user can name. A damaged config file is reported by the command that reads it. */
async function agentNames(): Promise<readonly string[]> {
  const { knownAgentNames } = await import("./settings/named-agent.ts");
  return knownAgentNames();
}

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly exitCode: number;
}

function failureOf(error: unknown, json: boolean): Failure {
  if (error instanceof CommandError) {
    const { code, message, hint, exitCode } = error;
    return { code, message, hint, exitCode };
  }
  const refused = systemFailure(error) ?? storeFailure(error);
  if (refused !== undefined) return refused;
  // a bug: a report needs the stack
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  return json
    ? { code: "internal", message, hint: "run it again without --json to see the stack", exitCode: 1 }
    : { code: "internal", message: stack, hint: "", exitCode: 1 };
}

function wantsEvents(flags: readonly string[]): boolean {
  return flags.some(
    (flag, at) =>
      /^(?:--format=|-f)json$/.test(flag) || (/^(?:--format|-f)$/.test(flag) && flags[at + 1] === "json"),
  );
}

/** A file or directory that cannot be used is not a bug. */
function systemFailure(error: unknown): Failure | undefined {
  const { code = "", path } = (error ?? {}) as NodeJS.ErrnoException; // checked next
  const isOurs = ["EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT", "ENOTDIR"].includes(code);
  if (!isOurs || typeof path !== "string") return undefined;
  return {
    code: "system",
    message: `cannot use ${path}: ${code}`,
    hint: "make it writable, or set PARLEY_HOME to another folder; parley doctor checks it",
    exitCode: 1,
  };
}

/** The history is damaged or cannot be opened, or another process uses the session. */
function storeFailure(error: unknown): Failure | undefined {
  const { name, message } = error instanceof Error ? error : { name: "", message: "" };
  if (name === "StoreError") {
    const hint = "run parley doctor, or set PARLEY_HOME to another folder";
    return { code: "history", message, hint, exitCode: 1 };
  }
  if (name !== "RequestError") return undefined;
  return { code: "refused", message, hint: "see parley sessions list", exitCode: 1 };
}

async function dispatch(argv: readonly string[], json: boolean): Promise<number | undefined> {
  const [name, second] = beforeTerminator(argv).filter((argument) => argument !== "--json");
  const named = name === undefined ? undefined : find(name, second);
  const command = named ?? (isOption(second) ? defaultOf(name ?? "") : undefined);
  if (command?.ownsOutput !== true || wantsHelp(beforeTerminator(argv))) watchOutput();
  if (name === undefined || name === "--help" || name === "-h") return showOverview(json);
  if (["--version", "-V", "-v", "version"].includes(name)) return showVersion(json);
  if (name === "help") {
    const [topic, part] = argv
      .slice(argv.indexOf("help") + 1)
      .filter((argument) => !argument.startsWith("-"));
    return topic === undefined || topic === "help" ? showOverview(json) : showHelp(topic, part, json);
  }
  if (named === undefined && wantsHelp(beforeTerminator(argv))) return showHelp(name, undefined, json);
  if (command === undefined) {
    const { unknownCommand } = await import("./command/usage-errors.ts");
    throw unknownCommand(name, second, commands, await agentNames());
  }
  const rest = [...argv];
  for (const word of named === undefined ? [name] : command.name.split(" "))
    rest.splice(rest.indexOf(word), 1);
  if (wantsHelp(beforeTerminator(rest))) return showCommand(command, json);
  const invocation = await parse(command, rest, json);
  const run = await command.load();
  return run(invocation, commands);
}

function isAtTerminal(): boolean {
  return process.stdout.isTTY === true && process.stdin.isTTY === true;
}

/** `second` is the next word, which belongs to the name of some commands. */
function find(name: string, second: string | undefined): Command | undefined {
  const named = (wanted: string) => commands.find((candidate) => candidate.name === wanted);
  // `agent login` before `agent`
  return named(`${name} ${second}`) ?? named(name);
}

/** The command that the first word of its name alone means. */
function defaultOf(name: string): Command | undefined {
  return commands.find((command) => command.isDefault === true && command.name.startsWith(`${name} `));
}

function isOption(word: string | undefined): boolean {
  return word === undefined || word.startsWith("-");
}

function wantsHelp(flags: readonly string[]): boolean {
  return flags.includes("--help") || flags.includes("-h");
}

async function parse(command: Command, args: string[], json: boolean): Promise<Invocation> {
  const help = `see parley help ${command.name}`;
  if (json && !command.json) throw usageError(`${command.name} does not support --json`, help);
  try {
    const parsed = parseArgs({
      args,
      options: { ...command.options, json: { type: "boolean" } },
      allowPositionals: true,
    });
    const extra = parsed.positionals[0];
    if (command.positionals === undefined && extra !== undefined) {
      throw usageError(`${command.name} takes no arguments, got ${extra}`, help);
    }
    const end = args.indexOf("--");
    const argv = end < 0 ? [] : args.slice(end + 1);
    const { values, positionals } = parsed;
    const words = positionals.slice(0, positionals.length - argv.length);
    return { values, positionals, words, argv, json };
  } catch (error) {
    if (!isParseArgsError(error)) throw error;
    const meant = (await command.meant?.())?.(args);
    throw meant ?? (await import("./command/usage-errors.ts")).badArguments(error, command, args);
  }
}

function isParseArgsError(error: unknown): error is Error {
  return error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS_");
}

async function showOverview(json: boolean): Promise<number> {
  const { overview } = await import("./command/help.ts");
  const names = commands.flatMap(({ name, summary, internal }) => (internal ? [] : [{ name, summary }]));
  return printAnswer(overview(commands), { commands: names }, json);
}

/** The help of a command, or of all commands that begin with this word. */
async function showHelp(topic: string, second: string | undefined, json: boolean): Promise<number> {
  const command = find(topic, second);
  if (command !== undefined) return showCommand(command, json);
  const { familyOf, unknownCommand } = await import("./command/usage-errors.ts");
  const family = familyOf(topic, commands);
  if (family.length === 0 || second !== undefined) throw unknownCommand(topic, second, commands);
  const { familyHelp } = await import("./command/help.ts");
  const names = family.map(({ name, summary }) => ({ name, summary }));
  return printAnswer(familyHelp(topic, family), { commands: names }, json);
}

async function showCommand(command: Command, json: boolean): Promise<number> {
  const { commandHelp } = await import("./command/help.ts");
  const { name, summary, options = {} } = command;
  return printAnswer(commandHelp(command), { name, summary, options }, json);
}

async function showVersion(json: boolean): Promise<number> {
  const { ownVersion } = await import("./settings/installation.ts");
  const version = ownVersion();
  return printAnswer(`parley ${version}`, { version, node: process.versions.node }, json);
}

/** Puts a `--` before a command of the user, if the table says that one follows. */
function withTerminator(argv: readonly string[]): readonly string[] {
  const name = argv.find((argument) => argument !== "--json") ?? "";
  const at = argv.indexOf(name);
  const command = find(name, argv[at + 1]);
  if (command?.commandAfter === undefined) return argv;
  const isValue = (index: number) => takesValue(command, argv[index - 1] ?? "");
  const [first, second] = [...argv.keys()].filter(
    (index) =>
      index >= at + command.name.split(" ").length && !argv[index]?.startsWith("-") && !isValue(index),
  );
  const end = argv.indexOf("--");
  if (first === undefined || second === undefined || (end >= 0 && end < second)) return argv;
  return command.commandAfter.test(argv[first] ?? "") ? argv.toSpliced(second, 0, "--") : argv;
}

function takesValue({ options = {} }: Command, word: string): boolean {
  return Object.entries(options).some(
    ([name, { type, short }]) => type === "string" && (word === `--${name}` || word === `-${short}`),
  );
}

/** Arguments after `--` belong to another program. */
function beforeTerminator(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf("--");
  return end < 0 ? argv : argv.slice(0, end);
}
