// Commands whose arguments are commands. A rule that allows the beginning of an argv was written for a program that
// does one thing; it must not stand for whatever this program is told to run.

import { basename } from "node:path";

const shells = /^(?:ba|z|k|da|a|fi|c|tc)?sh$|^(?:busybox|cmd|powershell|pwsh)$/;
/** They run what follows them. */
const runners =
  /^(?:env|sudo|doas|su|nohup|setsid|nice|ionice|timeout|xargs|parallel|stdbuf|unshare|chroot|time|watch|strace|ltrace|script|flock|exec|eval|command|ssh|docker|podman|kubectl|npx|bunx|uvx|pipx|corepack)$/;

/** Options of programs that name something to run. */
const runningOptions: readonly (readonly [RegExp, RegExp])[] = [
  [
    /^git$/,
    /^(?:-c|-c.+|--config-env.*|--exec-path.*|--upload-pack.*|--receive-pack.*|-u|--exec.*|--ext-diff|--open-files-in-pager.*|-O.*)$/,
  ],
  [/^find$/, /^-(?:exec|execdir|ok|okdir|delete|fprint|fprintf|fls|fprint0)$/],
  [/^(?:python|python\d[\d.]*|perl|ruby|lua|php|osascript)$/, /^-(?:c|e|E|r|m|-eval.*)$|^-[A-Za-z]*[ce]$/],
  [/^(?:node|bun|deno)$/, /^(?:-e|-p|-pe|--eval.*|--print.*|-r|--require.*|--import.*|--loader.*|eval)$/],
  [
    /^(?:tar|bsdtar)$/,
    /^(?:--checkpoint-action.*|--to-command.*|-I|--use-compress-program.*|--rsh-command.*|-F|--info-script.*)$/,
  ],
  [/^rsync$/, /^(?:-e|-e.+|--rsh.*|--rsync-path.*)$/],
  [/^(?:vi|vim|nvim|emacs|ed|ex)$/, /^(?:-c|\+.*|--cmd|--eval.*|-l|--load.*)$/],
  [/^(?:awk|gawk|mawk|sed)$/, /^.*(?:system|getline|\|).*$|^.*e\s*$/],
  [/^(?:make|gmake)$/, /^(?:-f|--file.*|--eval.*|SHELL=.*|-C)$/],
  [/^(?:npm|pnpm|yarn)$/, /^(?:--script-shell.*|--node-options.*)$/],
  [/^go$/, /^(?:-exec.*|-toolexec.*)$/],
  [/^cargo$/, /^--config.*$/],
  [/^(?:curl|wget)$/, /^(?:-K|--config.*|--use-askpass.*)$/],
  [/^(?:less|more|man)$/, /^(?:-P.*|--pager.*|\+!.*)$/],
];

/** `npm exec` and its like: first words that run what follows. */
const runningWords: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:npm|pnpm|yarn|bun)$/, /^(?:exec|x|dlx|explore)$/],
  [/^deno$/, /^(?:eval|x)$/],
  [/^(?:uv|poetry|pipenv|hatch|rye)$/, /^(?:run|tool)$/],
];

/** Why a rule for the beginning of an argv does not reach this command; undefined where it does. */
export function commandTrick(argv: readonly string[]): string | undefined {
  const program = programName(argv[0] ?? "");
  if (shells.test(program)) return `${program} runs what it is given`;
  if (runners.test(program)) return `${program} runs another command`;
  for (const [programs, options] of runningOptions) {
    if (!programs.test(program)) continue;
    const option = argv.slice(1).find((word) => options.test(word));
    if (option !== undefined) return `${program} ${option} can run another command`;
  }
  const word = argv.slice(1).find((each) => !each.startsWith("-")) ?? "";
  if (runningWords.some(([programs, words]) => programs.test(program) && words.test(word)))
    return `${program} ${word} runs another command`;
  return undefined;
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

/** The command itself, and what it would run in turn as far as its words say. */
export function commandsWithin(argv: readonly string[]): (readonly string[])[] {
  const program = programName(argv[0] ?? "");
  if (!runners.test(program) && !shells.test(program)) return [argv];
  return argv.map((_, at) => argv.slice(at));
}

/** Variables by which a command can be made to do something else (N185). */
const steering =
  /^(?:LD_.*|DYLD_.*|NODE_.*|BASH_.*|ENV|ZDOTDIR|SHELL|SHELLOPTS|PS4|PROMPT_COMMAND|IFS|PATH|PATHEXT|COMSPEC|GIT_.*|SSH_.*|PAGER|.*_PAGER|EDITOR|VISUAL|BROWSER|.*_EDITOR|PYTHON.*|PERL.*|RUBY.*|JAVA_.*|JDK_.*|_JAVA_OPTIONS|MAVEN_OPTS|GRADLE_OPTS|CLASSPATH|LUA_.*|PHP.*|npm_config_.*|NPM_CONFIG_.*|YARN_.*|CARGO_.*|RUSTC.*|RUSTFLAGS|GOFLAGS|GOPROXY|MAKEFLAGS|MAKEFILES|CC|CXX|HOME|XDG_.*|TMPDIR|.*_PROXY|.*_proxy|SSL_.*|PARLEY_.*)$/i;

/** Set by many agents, so that nothing waits for a person. */
const harmless: Readonly<Record<string, RegExp>> = {
  CI: /^/,
  PAGER: /^(?:cat)?$/,
  GIT_PAGER: /^(?:cat)?$/,
  GH_PAGER: /^(?:cat)?$/,
  GIT_TERMINAL_PROMPT: /^0$/,
  GIT_EDITOR: /^true$/,
  TERM: /^/,
  NO_COLOR: /^/,
  FORCE_COLOR: /^/,
  COLUMNS: /^/,
  LINES: /^/,
};

/** The names of what an agent sets for a command, without what cannot matter. */
export function notableVariables(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => (harmless[name]?.test(value) ? [] : [name]));
}

export function steeringVariables(names: readonly string[]): string[] {
  return names.filter((name) => steering.test(name));
}
