// Finds the commands that a command would run in turn, for rules that forbid.

import { basename } from "node:path";
import { evaluatesText } from "./evaluated-text.ts";
import { commandsInLine, type LineCommand } from "./shell-line.ts";
import type { RuleSubject } from "./subject.ts";

/** As it is called, whatever folder it is in. */
export function programName(word: string): string {
  return basename(word.replaceAll("\\", "/"))
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat|com)$/, "");
}

const named = (names: string): ReadonlySet<string> => new Set(names.split(" "));

const shells = named("sh bash rbash zsh rzsh ksh rksh mksh dash ash yash fish csh tcsh");

/** They run what follows them. There are more; a rule that forbids is a guard rail, the sandbox is the wall. */
const wrappers = named(
  "env sudo doas su runuser pkexec xargs parallel timeout nohup setsid nice ionice stdbuf time watch command builtin exec eval coproc trap . source busybox toybox chroot unshare nsenter bwrap setpriv taskset chrt prlimit setarch linux32 linux64 x86_64 uname26 choom capsh sg catchsegv chronic cpulimit debconf faketime perf start-stop-daemon unbuffer valgrind dbus-run-session dbus-launch gdb systemd-run script flock strace ltrace fakeroot xvfb-run ssh cmd powershell pwsh ssh-agent gpg-agent logsave tmux screen at batch uclampset i386 i486 i586 i686 numactl cgexec eatmydata fakechroot firejail nsjail gosu su-exec run0 systemd-inhibit systemd-cat tini dumb-init catatonit daemonize setlock softlimit chpst envdir torsocks proxychains proxychains4 trickle sshpass rlwrap expect entr ifne pee mispipe ts sem hyperfine direnv dotenv npx bunx pnpx caffeinate wine",
);

function isWrapper(name: string): boolean {
  return wrappers.has(name) || /^ld(?:64)?[-.](?:linux|musl|so)/.test(name);
}

/** What `sh -c` and its like are given to read. */
export function shellScript(argv: readonly string[]): string | undefined {
  const name = programName(argv[0] ?? "");
  if (!shells.has(name) && !/^(?:busybox|cmd|powershell|pwsh)$/.test(name)) return undefined;
  const at = argv.findIndex((word, index) => index > 0 && /^(?:-[a-zA-Z]*c|\/c|-Command)$/i.test(word));
  return at < 0 ? undefined : argv[at + 1];
}

const maxLine = 100_000;
const maxWords = 4_000;
const maxCommands = 5_000;
/** Behind a wrapper each word may be the program. */
const maxWrapped = 256;

const known = new WeakMap<object, readonly LineCommand[] | undefined>();

type Command = Pick<RuleSubject, "argv" | "shellLine" | "env">;

/** What is about to be run, and what that would run in turn. Undefined: there is too much of it, or it has no end. */
export function commandsOf(subject: Command): readonly LineCommand[] | undefined {
  if (!known.has(subject)) known.set(subject, allCommands(subject));
  return known.get(subject);
}

function allCommands({ argv, shellLine, env = {} }: Command): readonly LineCommand[] | undefined {
  if ((argv?.length ?? 0) > maxWords || (shellLine?.length ?? 0) > maxLine) return undefined;
  const inLine = shellLine === undefined ? [] : commandsInLine(shellLine);
  if (inLine === undefined) return undefined;
  // in a line they would stand in front of it
  const files = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const variables = files.length === 0 ? [] : [{ words: [], files, texts: [] }];
  const waiting: LineCommand[] = [...(argv === undefined ? [] : [guess(argv)]), ...variables, ...inLine];
  const found: LineCommand[] = [];
  const keys = new Set<string>();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const key = next.words.join("\0");
    if (next.isGuess && keys.has(key)) continue;
    const inner = startedBy(next);
    if (inner === undefined || found.length + inner.length > maxCommands) return undefined;
    keys.add(key);
    found.push(next);
    waiting.push(...inner);
  }
  return found;
}

/** `$X`, `$(x)`, `/bin/r?`, `{rm,x}`: only the shell will know. */
export function isExpanded(word: string): boolean {
  return /[$*?{]|\[./.test(word) && word !== "[[" && word !== "{}";
}

/** Only the shell will know which program it is: the word itself, the one behind a wrapper, or what is read from elsewhere. */
export function hasUnknownProgram(command: LineCommand): boolean {
  const { words, texts, isGuess = false } = command;
  const [program = "", ...rest] = words;
  if (evaluatesText(command) || isToldInOwnLanguage(words)) return true;
  if (isGuess) return false;
  if (isExpanded(program)) return true;
  const name = programName(program);
  // it gives a program another name
  if (name === "alias" || name === "hash") return rest.length > 0;
  if (shells.has(name) && texts.length === 0 && readsInput(rest)) return true;
  // a shell that reads what others write
  if (name === "newgrp") return true;
  if ((name === "xargs" || name === "parallel") && givesShellInput(rest)) return true;
  if (!shells.has(name) && !isWrapper(name)) return false;
  if (name === "command" && /^-[vV]$/.test(rest[0] ?? "")) return false;
  const next = rest.find((word) => !/^[-+]|^\w+=|^[\d.]+[smhd]?$|^\{\}$/.test(word)) ?? "";
  return /\s/.test(next) ? (commandsInLine(next)?.some(hasUnknownProgram) ?? true) : isExpanded(next);
}

/** `gdb -ex 'shell rm'`. */
function isToldInOwnLanguage([program = "", ...rest]: readonly string[]): boolean {
  return (
    programName(program) === "gdb" && rest.some((word) => /^--?(?:ex|x|eval-command|command|init)/.test(word))
  );
}

/** `xargs sh -c`: what it reads is the script. */
function givesShellInput(words: readonly string[]): boolean {
  const at = words.findIndex((word) => shells.has(programName(word)));
  if (at < 0) return false;
  const script = shellScript(words.slice(at));
  return script === undefined
    ? words.slice(at + 1).every((word) => word.startsWith("-"))
    : /^\s*\{/.test(script);
}

/** A shell that is given no script reads what others write. */
function readsInput(words: readonly string[]): boolean {
  const [first] = words.filter((word) => !/^[-+]/.test(word));
  return first === undefined || words.includes("-s") || /^\/(?:dev|proc)\//.test(first);
}

/** The words of a list are no text for a shell. */
function guess(words: readonly string[]): LineCommand {
  return { words, files: [], texts: [], isGuess: true };
}

/** Undefined: it cannot be told. */
function startedBy({ words: [program = "", ...rest], texts }: LineCommand): LineCommand[] | undefined {
  const name = programName(program);
  if (!shells.has(name) && !isWrapper(name)) {
    // of find and its like
    const at = rest.findIndex((word) => /^-(?:exec|ok)(?:dir)?$/.test(word));
    return at < 0 ? [] : [guess(rest.slice(at + 1))];
  }
  if (rest.length > maxWrapped) return undefined;
  // word by word, or one of them is a line
  const script = shellScript([program, ...rest]);
  const isLine = (word: string) => word === script || /[\s;|&`]|\$\(/.test(word);
  // `--command=x`, `-Sx`
  const glued = rest.flatMap((word) => /^(?:--?[\w-]+=|-\w)([\s\S]+)$/.exec(word)?.[1] ?? []);
  const lines = [...rest.filter(isLine), ...glued, ...texts];
  const inner = lines.map((line) => commandsInLine(line));
  if (inner.some((each) => each === undefined)) return undefined;
  const isGuess = !shells.has(name);
  return [
    ...rest.map((_, at) => guess(rest.slice(at))),
    ...inner.flatMap((each = []) => (isGuess ? each.map((one) => ({ ...one, isGuess })) : each)),
  ];
}
