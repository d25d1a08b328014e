// Commands whose arguments are commands. A rule that allows the beginning of an argv was written for a program that
// does one thing; it must not stand for whatever this program is told to run.

import { basename } from "node:path";
import type { Subject } from "../subject.ts";
import { runningWord } from "./command-options.ts";
import { commandsInLine } from "./command-words.ts";

const shells = /^(?:ba|z|k|da|a|fi|c|tc)?sh$|^(?:busybox|cmd|powershell|pwsh)$/;
/** They run what follows them. */
const runners =
  /^(?:env|sudo|doas|su|runuser|pkexec|setpriv|capsh|sg|nohup|setsid|nice|ionice|chrt|taskset|numactl|prlimit|timeout|xargs|parallel|stdbuf|unbuffer|unshare|nsenter|chroot|fakeroot|proot|bwrap|firejail|systemd-run|dbus-run-session|xvfb-run|time|watch|watchexec|entr|nodemon|strace|ltrace|gdb|valgrind|perf|script|expect|screen|tmux|flock|at|batch|exec|eval|command|builtin|coproc|trap|ssh|sshpass|mosh|docker|podman|kubectl|npx|pnpx|bunx|uvx|pipx|corepack|tsx|ts-node|run-parts|ld-linux.*|toybox)$/;

/** Why a rule for the first `given` words of an argv does not reach this command; undefined where it does. */
export function commandTrick(argv: readonly string[], given = 1): string | undefined {
  const program = programName(argv[0] ?? "");
  if (shells.test(program)) return `${program} runs what it is given`;
  if (runners.test(program)) return `${program} runs another command`;
  const word = runningWord(program, argv, given);
  return word === undefined ? undefined : `${program} ${word} can run another command`;
}

export function programName(word: string): string {
  return basename(word.replaceAll("\\", "/"))
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat|com)$/, "");
}

/** What `sh -c` and its like are given to read. */
export function shellScript(argv: readonly string[]): string | undefined {
  if (!shells.test(programName(argv[0] ?? ""))) return undefined;
  const at = argv.findIndex((word, index) => index > 0 && /^(?:-[a-zA-Z]*c|\/c|-Command)$/i.test(word));
  return at < 0 ? undefined : argv[at + 1];
}

/** A command that begins at a word of others. */
export interface CommandPart {
  readonly words: readonly string[];
  readonly from: number;
}

const deepest = 4;
const maxWords = 4_000;
const maxLine = 100_000;

/** More than is looked at: whatever may be in the rest, no rule allows it. */
export function isTooLong({ argv = [], shellLine = "" }: Pick<Subject, "argv" | "shellLine">): boolean {
  return argv.length > maxWords || shellLine.length > maxLine;
}

const known = new WeakMap<object, readonly CommandPart[]>();

/** All commands in what is about to be run, as far as they can be told. */
export function commandsOf(subject: Pick<Subject, "argv" | "shellLine">): readonly CommandPart[] {
  const found = known.get(subject);
  if (found !== undefined) return found;
  const { argv, shellLine } = subject;
  const commands = [
    ...(argv === undefined ? [] : [argv.slice(0, maxWords)]),
    ...(shellLine === undefined ? [] : commandsInLine(shellLine.slice(0, maxLine))),
  ];
  const parts = commands.flatMap((words) => [...commandsWithin(words)]);
  known.set(subject, parts);
  return parts;
}

/** The command itself, and what it would run in turn as far as its words say; a word with blanks may be a line. */
function* commandsWithin(words: readonly string[], depth = 0): Generator<CommandPart> {
  yield { words, from: 0 };
  if (commandTrick(words) === undefined) return;
  for (let from = 1; from < words.length; from++) yield { words, from };
  if (depth < deepest)
    for (const word of words.slice(1))
      if (/\s/.test(word)) for (const inner of commandsInLine(word)) yield* commandsWithin(inner, depth + 1);
}

/** Variables by which a command can be made to do something else (N185): known ones, and what is called like them. */
const steering = [
  /^(?:LD|DYLD|NODE|BASH|GIT|SSH|JAVA|JDK|JVM|LUA|YARN|PNPM|NPM|CARGO|GO|XDG|SSL|OPENSSL|PARLEY|LESS|FZF|RIPGREP|DOCKER|PIP|UV|POETRY|BUNDLE|GEM|DENO|BUN|TS_NODE|TSX|COREPACK|ELECTRON|ERL|ELIXIR|MIX|GTK|QT|GIO|JULIA|DOTNET|CORECLR|COR|CMAKE|PKG_CONFIG|GCC|GCONV|GLIBC|MALLOC|NIX|CONDA|DIRENV|MISE|ASDF|NVM|DBUS|SUDO|KRB5|R|TERMINFO|TF|ANSIBLE)_.*$/i,
  /^(?:PYTHON|PERL|RUBY|PHP|RUSTC|RUSTUP|LESS|MAN|VIM|KUBE|MSBUILD|GUILE|OCAML|CAML|STACK|CABAL|IPYTHON|MAKE|GO|CPP|LUA).*$/i,
  /^(?:ENV|ZDOTDIR|SHELL|SHELLOPTS|PS4|PROMPT.*|IFS|COMSPEC|PAGER|EDITOR|VISUAL|BROWSER|CC|CXX|LD|AR|AS|FC|HOME|TMPDIR|TMP|TEMP|TERMINFO|TERMCAP|EXINIT|FCEDIT|HISTFILE|HOSTALIASES|VIRTUAL_ENV|USERPROFILE|APPDATA|LOCALAPPDATA|PROGRAMDATA|SYSTEMROOT|WINDIR|DISPLAY)$/i,
  /(?:PATH|PATHEXT|OPTIONS|OPTS|FLAGS|ARGS|RSH|COMMAND|CMD|CONFIG|CONF|RC|INIT|PRELOAD|MODULES?|PLUGINS?|PAGER|EDITOR|SHELL|WRAPPER|LAUNCHER|PROXY|ASKPASS|LOADER|_HOME|_DIR|_ROOT|_EXEC|_HOOK|_HOOKS|_PREFIX|_RUNNER|_LINKER)$/i,
];

/** Set by many agents, so that nothing waits for a person. */
const harmless: ReadonlyMap<string, RegExp> = new Map([
  ["CI", /^/],
  ["PAGER", /^(?:cat)?$/],
  ["GIT_PAGER", /^(?:cat)?$/],
  ["GH_PAGER", /^(?:cat)?$/],
  ["GIT_TERMINAL_PROMPT", /^0$/],
  ["GIT_EDITOR", /^true$/],
  ["NODE_ENV", /^(?:test|development|production)$/],
  ["TERM", /^[\w.+-]*$/],
  ["NO_COLOR", /^/],
  ["FORCE_COLOR", /^/],
  ["COLUMNS", /^/],
  ["LINES", /^/],
]);

/** The names of what an agent sets for a command, without what cannot matter. */
export function notableVariables(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => (harmless.get(name)?.test(value) ? [] : [name]));
}

export function steeringVariables(names: readonly string[]): string[] {
  return names.filter((name) => steering.some((pattern) => pattern.test(name)));
}
