// Lists environment variables that can make a command do something else (N185).

/** Known ones, and what is called like them. */
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
