// Brings a terminal back from the alternate screen when this process is killed: a shell waits for the end of a pipe, which
// comes however the process ends.

import { type ChildProcess, spawn } from "node:child_process";

/** Told when the alternate screen opens and closes. */
export interface TerminalWatch {
  /** `restore` is what to write if this process ends before `end` is called. */
  begin(restore: string): void;
  end(): void;
}

/**
 * Keys are set right only if nobody has done it: a shell with a line editor is faster, and needs its own. They come first: who
 * sees the shell again may type.
 */
const script = [
  'raw="$(stty -g <&1)"',
  "read -r word",
  'test "$word" = done && exit',
  'test "$(stty -g <&1)" = "$raw" && stty brkint icrnl ixon echo icanon iexten isig <&1',
  'printf %s "$1"',
].join("; ");

/** Watches the terminal that stdout is. */
export function terminalWatch(): TerminalWatch {
  let shell: ChildProcess | undefined;
  return {
    begin(restore) {
      if (process.platform === "win32") return;
      // in a session of its own: keys of the terminal do not end it
      const started = spawn("/bin/sh", ["-c", script, "sh", restore], {
        stdio: ["pipe", "inherit", "ignore"],
        detached: true,
      });
      // without a shell, only a kill is the worse for it
      started.on("error", () => undefined);
      started.stdin?.on("error", () => undefined);
      started.unref();
      if (started.stdin !== null && "unref" in started.stdin) (started.stdin as { unref(): void }).unref(); // a socket
      shell = started;
    },
    end() {
      shell?.stdin?.end("done\n");
      shell = undefined;
    },
  };
}
