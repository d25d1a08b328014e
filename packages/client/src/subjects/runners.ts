// Lists programs that run other programs.

import { basename } from "node:path";

/** As it is called, whatever folder it is in. */
export function programName(word: string): string {
  return basename(word.replaceAll("\\", "/"))
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat|com)$/, "");
}

/** Without a version: `python3.12`. */
export function plainName(word: string): string {
  return programName(word).replace(/[-.]?\d[\d.]*$/, "");
}

const named = (names: string): ReadonlySet<string> => new Set(names.split(" "));

export const shells = named("sh bash zsh ksh dash ash fish csh tcsh");

/** They run what follows them. */
export const runners = named(
  "env sudo doas su runuser pkexec setpriv capsh sg nohup setsid nice ionice chrt taskset numactl prlimit timeout xargs parallel stdbuf unbuffer unshare nsenter chroot fakeroot time watch watchexec nodemon strace ltrace valgrind perf script flock exec eval command builtin coproc trap ssh sshpass mosh run-parts busybox toybox tmux screen systemd-run proot firejail bwrap dbus-run-session xvfb-run faketime entr caffeinate start cmd powershell pwsh",
);

/** They run a file that they are given, or code. */
export const interpreters = named(
  "python ipython bpython jython micropython pypy perl ruby jruby node nodejs qjs d8 php lua luajit tclsh wish expect rscript julia guile racket osascript java groovy elixir escript runghc ocaml tsx ts-node deno bun",
);

/** They have a language of their own, load or schedule what they are given, or talk to what does. */
export const opaque = named(
  "irb erl ghci r scala kotlinc clojure clj bb sbcl clisp swipl matlab octave gnuplot gdb lldb ed ex vi vim view nvim emacs nano pico joe m4 bc dc sqlite sqlite3 psql mysql mariadb mongo mongosh redis-cli ftp sftp scp telnet nc ncat socat openssl crontab at batch systemctl service launchctl schtasks open xdg-open gio rundll32 mshta wscript cscript reg patch mvn bundle gem brew apt apt-get dpkg rpm yum dnf pacman snap pipx conda composer terraform ansible ansible-playbook vagrant helm kubectl bazel mocha swift direnv mise asdf rtx nix uv poetry pipenv hatch rye pdm rustup pyenv rbenv nvm volta fnm opam cmake meson scons dotnet sbt lein stack cabal mix rails wine mono adb wsl lxc gh hg svn fzf concurrently cross-env cpan corepack easy_install",
);

/** By which programs with many commands in them run another one. */
export const runningWord = /^(?:exec|run|x|dlx|eval|shell|ssh|runner|script|foreach)$/;

/** Whether a word is the name of a program that runs what it is given. */
export function isRunner(word: string): boolean {
  return shells.has(programName(word)) || runners.has(programName(word)) || interpreters.has(plainName(word));
}

/** `npx eslint`, `uv run pytest`: how many words stand before the program that they run. */
export function wordsBeforeInner(argv: readonly string[]): number | undefined {
  const [program = "", first = ""] = argv;
  const name = programName(program);
  if (/^(?:npx|bunx|uvx)$/.test(name)) return 1;
  if (/^(?:npm|pnpm|yarn|bun)$/.test(name) && /^(?:exec|x|dlx|explore)$/.test(first)) return 2;
  if (/^(?:uv|poetry|pipenv|pipx|hatch|rye|pdm)$/.test(name) && first === "run") return 2;
  if (name === "bundle" && first === "exec") return 2;
  if (/^(?:python|pypy)$/.test(plainName(program)) && first === "-m") return 2;
  return undefined;
}
