// Lists the harmless words of known programs; anything else is asked about.

/** What may stand behind a program's name, or behind the first word of one that has many commands in it. */
export interface StarWords {
  /** Whole options; one that ends in `=` stands also for itself with a value. */
  readonly options?: string;
  /** Letters that may stand together behind one dash; `0` for digits. */
  readonly flags?: string;
  /** Letters behind which the rest of the word is a value: `-n5`. */
  readonly valued?: string;
  /** Every other word. */
  readonly operands?: RegExp;
  /** The first of the other words is a program in a language of its own, and harmless where it looks like this. */
  readonly script?: RegExp;
  /** What the first word must be, also where the rule has it. */
  readonly bundle?: RegExp;
  /** Behind `--` come words for what the project itself runs. */
  readonly rest?: boolean;
  readonly first?: Readonly<Record<string, StarWords>>;
}

const any = /^/;
const none = /^(?!)/;
/** A name, a path, a number: nothing that a program could take for more. */
export const plain = /^[\p{L}\p{N}_./~][\p{L}\p{N}_./~:,@%+ -]*$/u;
/** The same within the project: a test or a target of it. */
const inside = /^(?![/~])(?!(?:.*\/)?\.\.(?:\/|$))[\p{L}\p{N}_.][\p{L}\p{N}_./:,@%+[\] -]*$/u;
/** A remote or a branch by name: no address, which may name a program. */
const refs = /^[A-Za-z][\w./-]*$/;

/** Nothing runs by any word of theirs. */
const harmless =
  "ls cat echo printf pwd true false test head tail wc cut tr uniq comm paste fold fmt nl tac rev basename dirname realpath readlink stat file du df date uname whoami id groups arch nproc uptime sleep seq expr factor md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum base64 base32 od xxd hexdump strings diff cmp grep egrep fgrep mkdir touch cp mv rm rmdir ln chmod tee printenv which tree ps jq tsc gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz xzcat zstd column";

/** What options of `git` commands that look at things have in common. */
const looking: StarWords = {
  options:
    "--oneline --stat= --shortstat --numstat --name-only --name-status --summary --patch --no-patch --graph --all --decorate= --no-decorate --color= --no-color --abbrev= --abbrev-commit --pretty= --format= --date= --since= --until= --after= --before= --author= --committer= --grep= --max-count= --skip= --reverse --follow --no-ext-diff --cached --staged --merges --no-merges --first-parent --branches --tags --remotes --left-right --porcelain= --short --branch --show-stash --untracked-files= --ignored --list --verbose --quiet --unified= --word-diff= --minimal --check --raw --no-renames --find-renames= --diff-filter= --exit-code --ignore-all-space --ignore-space-change --ignore-blank-lines --show-toplevel --abbrev-ref --is-inside-work-tree --show-prefix --show-cdup --verify --show-current --contains --merged --no-merged --sort= --count --line-number --ignore-case --word-regexp --fixed-strings --extended-regexp --files-with-matches --others --modified --deleted --exclude-standard --heads --symbolic-full-name --no-index --always --dirty --long --root",
  flags: "0abcdehilmnpqrstvwzEFMPRUW",
  valued: "SGL",
  operands: any,
};
const changing: StarWords = {
  options:
    "--all --update --amend --no-edit --allow-empty --no-verify --signoff --quiet --verbose --dry-run --message= --author= --date= --detach --track --no-track --force --hard --soft --mixed --keep --merge --staged --worktree --source= --cached --include-untracked --keep-index --create --delete --ignore-unmatch",
  flags: "abfnqvAuBcCdDkr",
  valued: "m",
  operands: any,
};
const exchanging: StarWords = {
  options:
    "--all --tags --no-tags --prune --depth= --dry-run --quiet --verbose --progress --force-with-lease --set-upstream --rebase= --no-rebase --ff-only --no-edit",
  flags: "anqvpu",
  operands: refs,
};

/** Targets of the project's own build. */
const building: StarWords = { operands: inside };

const git: StarWords = {
  options: "--version --help",
  first: {
    ...of(
      "status log diff show blame shortlog describe rev-parse rev-list ls-files ls-tree merge-base name-rev reflog show-ref for-each-ref diff-tree diff-index diff-files check-ignore count-objects branch tag whatchanged cherry",
      looking,
    ),
    ...of("add commit checkout switch restore reset rm mv stash clean", changing),
    ...of("fetch pull push", exchanging),
    // letters of its own: one of them opens what it finds in a program
    grep: { ...looking, flags: "0aceghilnopqrvwzABCEFGHILPW", valued: "" },
    remote: { flags: "v", operands: none },
  },
};

const npmTests: StarWords = {
  options: "--silent --workspaces --if-present",
  flags: "s",
  operands: inside,
  rest: true,
};
const npm: StarWords = {
  options: "--version --help",
  first: {
    ...of("test t run run-script start stop", npmTests),
    ...of("ls list view info outdated why explain search ping", {
      options: "--json --long --all --depth= --global --parseable --omit=",
      flags: "lag",
      operands: plain,
    }),
  },
};

const cargoWords: StarWords = {
  options:
    "--release --all --workspace --all-targets --all-features --no-default-features --features= --package= --exclude= --lib --bins --bin= --tests --test= --examples --example= --benches --doc --no-run --no-fail-fast --locked --offline --frozen --quiet --verbose --message-format= --jobs= --profile= --check --no-deps --depth=",
  flags: "qvr",
  valued: "pj",
  operands: inside,
};

const testing =
  "--verbose --quiet --watch= --coverage --ci --bail= --silent --run --color= --no-color --json --list --help --version";

export const starWords: Readonly<Record<string, StarWords>> = {
  ...of(harmless, { options: "*", operands: any }),
  git,
  find: {
    options:
      "-name -iname -path -ipath -wholename -regex -iregex -regextype -type -size -empty -mtime -mmin -atime -amin -ctime -cmin -newer -maxdepth -mindepth -not -and -or -print -print0 -printf -prune -perm -user -group -readable -writable -executable -links -inum -depth -xdev -mount -follow -ls -quit -true -false -daystart",
    flags: "aoLHP",
    operands: any,
  },
  sed: {
    options:
      "-i -i.bak -i.orig --quiet --silent --regexp-extended --separate --unbuffered --null-data --posix",
    flags: "nErsuz",
    operands: plain,
    // a few lines, or one replacement: no command that runs, reads or writes anything
    script:
      /^(?:(?:\d+|\$|\/[^/\\\n]*\/)(?:,(?:\d+|\$|\/[^/\\\n]*\/))?)?\s*(?:[pdq=]|s([/|#,:])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI\d]*)$/,
  },
  ...of("awk gawk mawk nawk", {
    valued: "F",
    operands: plain,
    script: /^\{\s*print(?:\s+\$\w+(?:\s*,\s*\$\w+)*)?\s*\}$/,
  }),
  sort: {
    options:
      "--key= --field-separator= --unique --reverse --numeric-sort --version-sort --human-numeric-sort --stable --check",
    flags: "bdfgiMhnrRVucsz",
    valued: "kt",
    operands: any,
  },
  ...of("tar bsdtar gtar", {
    options:
      "-C --directory= --list --extract --create --gzip --bzip2 --xz --verbose --file --exclude= --strip-components= --keep-old-files --no-same-owner --wildcards",
    flags: "cxtvzjJfpkmhaO",
    // a colon is another machine, reached by a program; the first word may be options without a dash
    operands: /^[^:]+$/,
    bundle: /^(?:-.*|[cxtvzjJfpkmhaO]+)$/,
  }),
  rsync: {
    options:
      "--delete --dry-run --progress --stats --exclude= --include= --archive --verbose --recursive --checksum --human-readable",
    flags: "avzrnPhutlcpogDi",
    operands: /^[^:]+$/,
  },
  rg: {
    options:
      "--glob= --iglob= --type= --type-not= --files --hidden --no-ignore --line-number --no-line-number --ignore-case --smart-case --files-with-matches --files-without-match --count --count-matches --context= --before-context= --after-context= --color= --json --word-regexp --fixed-strings --multiline --only-matching --invert-match --max-count= --max-depth= --sort= --heading --no-heading --regexp= --follow --stats --vimgrep --trim --null --no-config --max-columns=",
    flags: "inlwvcoFSsuHNLUPxp0",
    valued: "gtTABCemjM",
    operands: any,
  },
  curl: {
    options:
      "--silent --show-error --fail --location --head --include --verbose --compressed --max-time= --connect-timeout= --retry= --header --request --data --data-raw --data-urlencode --json --user-agent --get --http1.1 --http2 --version",
    flags: "sSfLIivgG46",
    valued: "HXdmA",
    operands: any,
  },
  wget: {
    options: "--quiet --spider --timeout= --tries= --no-verbose --server-response",
    flags: "qSv",
    operands: any,
  },
  ...of("less more", { flags: "NSRFXiMr", operands: plain }),
  ...of("man whatis apropos", { operands: plain }),
  ...of("make gmake", {
    options: "--jobs= --silent --quiet --dry-run --keep-going --always-make --question --no-print-directory",
    flags: "snkBq",
    valued: "j",
    operands: inside,
  }),
  ninja: { flags: "nvkd", valued: "j", operands: inside },
  ...of("just task rake ant", building),
  ...of("gradle gradlew", {
    options:
      "--info --stacktrace --offline --no-daemon --tests --continue --rerun-tasks --dry-run --quiet --parallel --console=",
    flags: "qsim",
    operands: /^[\w.:-]+$/,
  }),
  npm,
  pnpm: npm,
  // `yarn run` is for every program that a dependency brings
  yarn: {
    options: "--version --help",
    first: { test: npmTests, ...of("list why info outdated", { options: "--json", operands: plain }) },
  },
  bun: { options: "--version --help", first: { test: { options: testing, valued: "t", operands: inside } } },
  deno: {
    options: "--version --help",
    first: of("fmt lint check", { options: "--check --json --quiet", operands: inside }),
  },
  cargo: {
    options: "--version --help --list",
    first: {
      ...of("build b check c clippy fmt doc tree metadata", cargoWords),
      // behind -- stands what the project's own program gets
      ...of("test t bench run r", { ...cargoWords, rest: true }),
    },
  },
  go: {
    first: of("build test vet fmt list version", {
      options:
        "-v -race -short -count= -run= -bench= -benchmem -cover -coverprofile= -timeout= -json -failfast -parallel= -tags= -trimpath -skip= -shuffle= -m -n -x",
      operands: inside,
    }),
  },
  ...of("pip pip3", {
    options: "--version --help",
    first: of("list show freeze check", {
      options: "--outdated --format= --verbose --files",
      operands: plain,
    }),
  }),
  ...of("docker podman", {
    options: "--version --help",
    first: of("ps images logs inspect version info stats port top", {
      options: "--all --quiet --tail= --no-trunc --follow --format= --filter= --no-stream --since=",
      flags: "aqfnl",
      operands: plain,
    }),
  }),
  pytest: {
    options: `${testing} --lf --ff --last-failed --failed-first --tb= --maxfail= --durations= --exitfirst --collect-only --no-header --strict-markers`,
    flags: "qvxsl",
    valued: "kmrn",
    operands: inside,
  },
  ...of("jest vitest", {
    options: `${testing} --runInBand --updateSnapshot --testNamePattern= --grep= --onlyChanged --findRelatedTests --passWithNoTests`,
    flags: "iuo",
    valued: "tg",
    operands: inside,
  }),
  ...of("eslint prettier biome ruff black isort stylelint", {
    options: `${testing} --fix --write --check --ext= --max-warnings= --cache --list-different --diff --line-length= --no-fix --no-error-on-unmatched-pattern`,
    flags: "wlq",
    operands: inside,
  }),
};

/** Of a program that nobody knows here: a name, a path, a number, and options that mean the same everywhere. */
export const unknownWords: StarWords = {
  options: "--help --version --verbose --quiet --color= --no-color --json",
  operands: plain,
};

function of(names: string, words: StarWords): Record<string, StarWords> {
  return Object.fromEntries(names.split(" ").map((name) => [name, words]));
}
