// Options and words by which programs that do one thing run another one.

interface Tricks {
  readonly programs: RegExp;
  /** Names of long options. Many programs take any beginning of one. */
  readonly long?: readonly string[];
  /** Other words that do it. */
  readonly words?: RegExp;
  /** The first word that is no option, where the rule itself does not name it. */
  readonly commands?: RegExp;
}

const tricks: readonly Tricks[] = [
  {
    programs: /^git$/,
    long: [
      "config-env",
      "exec-path",
      "exec",
      "extcmd",
      "ext-diff",
      "open-files-in-pager",
      "output",
      "receive-pack",
      "upload-pack",
    ],
    words: /^(?:-c|-c.+|-u|-O.*|-x.*|run|foreach)$/,
    commands:
      /^(?:config|difftool|mergetool|filter-branch|send-email|instaweb|daemon|hook|p4|svn|remote-.*|credential.*)$/,
  },
  { programs: /^find$/, words: /^-(?:exec|execdir|ok|okdir|delete|fprint|fprintf|fls|fprint0)$/ },
  { programs: /^fd(?:find)?$/, long: ["exec", "exec-batch"], words: /^-(?!-)\w*[xX]/ },
  {
    programs: /^(?:python[\d.]*|perl|ruby|lua[\d.]*|php|osascript)$/,
    long: ["eval"],
    words: /^-(?!-)[A-Za-z]*[ceErm]/,
  },
  {
    programs: /^(?:node|bun|deno)$/,
    words:
      /^(?:-e|-p|-pe|-r|-C|eval|--(?:eval|print|require|import|loader|experimental-loader|env-file|openssl-config|conditions|experimental-config-file).*)$/,
  },
  {
    programs: /^(?:tar|bsdtar)$/,
    long: [
      "checkpoint-action",
      "info-script",
      "new-volume-script",
      "rsh-command",
      "to-command",
      "use-compress-program",
    ],
    words: /^-(?!-)\w*[IF]/,
  },
  { programs: /^(?:sort|gsort)$/, long: ["compress-program"] },
  { programs: /^rg$/, long: ["pre", "hostname-bin"] },
  { programs: /^rsync$/, long: ["rsh", "rsync-path"], words: /^-(?!-)\w*e/ },
  { programs: /^(?:scp|sftp)$/, words: /^-(?!-)\w*[So]/ },
  { programs: /^(?:vi|vim|nvim|emacs|ed|ex)$/, words: /^(?:-c|\+.*|--cmd|--eval.*|-l|--load.*)$/ },
  {
    programs: /^(?:g|m|n)?awk$/,
    long: ["exec", "file", "include", "load", "source"],
    words: /system|getline|[|@>]|^-(?!-)[fliEe]/,
  },
  { programs: /^(?:make|gmake)$/, long: ["eval", "file", "makefile", "directory"], words: /^-[fC]|=/ },
  {
    programs: /^(?:npm|pnpm|yarn)$/,
    long: ["editor", "git", "globalconfig", "node-options", "prefix", "script-shell", "userconfig", "viewer"],
    words: /^-C/,
  },
  { programs: /^go$/, words: /^--?(?:exec|toolexec|vettool|overlay|modfile)\b/ },
  { programs: /^cargo$/, long: ["config"] },
  { programs: /^(?:curl|wget)$/, long: ["config", "use-askpass"], words: /^-(?!-)\w*K/ },
  { programs: /^(?:less|more|man)$/, long: ["html", "pager"], words: /^(?:-[PH].*|\+!.*)$/ },
  { programs: /^zip$/, long: ["unzip-command"], words: /^-TT/ },
];

/** `npm exec` and its like: first words that run what follows, whoever names them. */
const runningWords: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:npm|pnpm|yarn|bun)$/, /^(?:exec|x|dlx|explore)$/],
  [/^deno$/, /^(?:eval|x)$/],
  [/^(?:uv|poetry|pipenv|hatch|rye)$/, /^(?:run|tool)$/],
  [/^(?:direnv|mise|asdf|rtx)$/, /^(?:exec|x)$/],
  [/^nix$/, /^(?:run|shell|develop)$/],
];

/** The word by which this program may run another one. `given` words of the argv are the rule's own. */
export function runningWord(program: string, argv: readonly string[], given: number): string | undefined {
  const words = argv.slice(1);
  for (const each of tricks) {
    if (!each.programs.test(program)) continue;
    const option = words.find((word) => each.words?.test(word) || isLong(word, each.long ?? []));
    if (option !== undefined) return option;
    const at = argv.findIndex((word, index) => index > 0 && !word.startsWith("-"));
    if (at >= given && each.commands?.test(argv[at] ?? "")) return argv[at];
  }
  const first = words.find((word) => !word.startsWith("-")) ?? "";
  if (runningWords.some(([programs, running]) => programs.test(program) && running.test(first))) return first;
  return /^g?sed$/.test(program) ? sedWord(words) : undefined;
}

function isLong(word: string, names: readonly string[]): boolean {
  const [, given] = /^--([\w-]+)/.exec(word) ?? [];
  return given !== undefined && names.some((name) => name.startsWith(given) || given.startsWith(name));
}

/** A script for sed that only shows, deletes or replaces: `e` in one runs commands. */
const tameScript =
  /^(?:(?:\d+|\$)(?:,(?:\d+|\$))?|\/(?:\\.|[^/\\\n])*\/)?(?:[pdq=]|s([/|#,])(?:\\.|(?!\1)[^\\\n])*\1(?:\\.|(?!\1)[^\\\n])*\1[gpiI\d]*)$/;

function sedWord(words: readonly string[]): string | undefined {
  const long = words.find((word) => isLong(word, ["file", "expression"]) || /^-(?!-)[^e]*f/.test(word));
  if (long !== undefined) return long;
  const glued = words.find((word) => /^-[nErsuz]*e./.test(word));
  if (glued !== undefined) return glued;
  const expressions = words.flatMap((word, at) => (/^-[nErsuzi]*e$/.test(word) ? [words[at + 1] ?? ""] : []));
  const scripts =
    expressions.length > 0 ? expressions : words.filter((word) => !word.startsWith("-")).slice(0, 1);
  return scripts.find((script) => !tameScript.test(script));
}
