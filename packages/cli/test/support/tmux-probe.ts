// For tests: a window of a real tmux, with a server of its own.

import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { atEnd } from "../../../acp/test/support/at-end.ts";

const run = promisify(execFile);
const patienceMs = 30_000;

/** Why tests with tmux cannot run here, or false. */
export function withoutTmux(): string | false {
  try {
    execFileSync("tmux", ["-V"], { stdio: "pipe" });
    return false;
  } catch {
    return "tmux is not installed; .ci/run installs it";
  }
}

export interface TmuxOptions {
  readonly cwd: string;
  readonly columns: number;
  readonly rows: number;
  readonly env?: Readonly<Record<string, string>>;
}

export class TmuxProbe {
  readonly #socket: string;

  private constructor(socket: string) {
    this.#socket = socket;
  }

  /** A shell in a window of this size. The server and everything in it end with the test. */
  static async open(t: TestContext, { cwd, columns, rows, env = {} }: TmuxOptions): Promise<TmuxProbe> {
    const probe = new TmuxProbe(`parley-test-${process.pid}-${Math.random().toString(36).slice(2)}`);
    const variables = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
    atEnd(t, () => probe.#close().catch(() => undefined));
    const size = ["-x", String(columns), "-y", String(rows)];
    await probe.#tmux("new-session", "-d", ...size, "-c", cwd, ...variables, "exec /bin/sh");
    await probe.#tmux("set-option", "-g", "history-limit", "20000");
    await probe.send("PS1='shell> '; clear");
    await probe.shows(/^shell>/);
    return probe;
  }

  /** Waits for everything in it: an agent writes to its home until it has exited. */
  async #close(): Promise<void> {
    const pids = await this.processes("");
    await this.#tmux("kill-server");
    const end = Date.now() + patienceMs;
    while (pids.some((pid) => commandLine(pid) !== "") && Date.now() < end)
      await new Promise((resolve) => setTimeout(resolve, 10));
  }

  /** Types text as it is. */
  async type(text: string): Promise<void> {
    await this.#tmux("send-keys", "-l", text);
  }

  /** Presses keys by their tmux names. */
  async press(...keys: string[]): Promise<void> {
    await this.#tmux("send-keys", ...keys);
  }

  async send(text: string): Promise<void> {
    await this.type(text);
    await this.press("Enter");
  }

  /** Runs a command of the shell in an empty window: what is shown afterwards is not from before, nor what was typed. */
  async start(command: string): Promise<void> {
    await this.send("clear");
    await this.shows(/^shell>$/);
    await this.send(`clear; ${command}`);
  }

  /** A bracketed paste. */
  async paste(text: string): Promise<void> {
    await this.#tmux("set-buffer", text);
    await this.#tmux("paste-buffer", "-p");
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.#tmux("resize-window", "-x", String(columns), "-y", String(rows));
  }

  /** What the window shows. */
  async shown(): Promise<string> {
    return (await this.#tmux("capture-pane", "-p")).trimEnd();
  }

  /** With the colours. */
  async painted(): Promise<string> {
    return this.#tmux("capture-pane", "-p", "-e");
  }

  /** With the scrollback. Rows that were wrapped by tmux are one line. */
  async everything(): Promise<string> {
    const text = await this.#tmux("capture-pane", "-p", "-J", "-S", "-");
    // rows that were joined keep the blanks at their ends
    return text.replaceAll(/ +$/gm, "").trimEnd();
  }

  /** The line of the scrollback that a search in copy mode finds. */
  async findInCopyMode(text: string): Promise<string> {
    await this.#tmux("copy-mode");
    await this.#tmux("send-keys", "-X", "search-backward", text);
    const line = (await this.#tmux("display-message", "-p", "#{copy_cursor_line}")).trimEnd();
    await this.#tmux("send-keys", "-X", "cancel");
    return line;
  }

  /** Processes below the shell whose command line contains this. */
  async processes(text: string): Promise<number[]> {
    const shell = Number((await this.#tmux("display-message", "-p", "#{pane_pid}")).trim());
    return descendants(shell).filter((pid) => commandLine(pid).includes(text));
  }

  /** Resolves with the screen when it shows this. */
  async shows(wanted: RegExp): Promise<string> {
    const end = Date.now() + patienceMs;
    let text = "";
    do {
      text = await this.shown();
      if (wanted.test(text)) return text;
    } while (Date.now() < end);
    return assert.fail(`the window never showed ${wanted}:\n${text}`);
  }

  async #tmux(...args: string[]): Promise<string> {
    const { stdout } = await run("tmux", ["-L", this.#socket, "-f", "/dev/null", ...args]);
    return stdout;
  }
}

function descendants(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

function commandLine(pid: number): string {
  return read(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
}

/** A process may have ended meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
