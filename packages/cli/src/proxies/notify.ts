// The proxy `notify`: tells the user when a turn is done, and when the agent needs an answer.

import { spawn } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { basename } from "node:path";
import { proxy } from "@parley/acp/proxy";
import { noticeSequence } from "../screen/terminal-requests.ts";
import { safeLine } from "../terminal/sanitise.ts";
import type { ShippedProxy } from "./shipped-proxy.ts";

interface Data {
  startedAt: number;
  title: string;
}

const defaultAfterMs = 10_000;

export const notify: ShippedProxy = {
  name: "notify",
  summary: "Notifies you when a turn ends or the agent needs you: bell, desktop notification or a command",
  options: {
    after: {
      type: "string",
      value: "TIME",
      summary: "Stay silent after turns shorter than this (default: 10s)",
    },
    command: {
      type: "string",
      value: "PROGRAM",
      summary: "Run this program instead, with the message as its argument",
    },
  },

  create(given, { warn }) {
    const afterMs = given.time("after") ?? defaultAfterMs;
    const command = given.text("command");
    const tell = (text: string): void => {
      const line = safeLine(text);
      if (command === undefined) return atTerminal(line) ? undefined : onDesktop(line);
      run(command, [line], (reason) => warn(`cannot start ${command}: ${reason}`));
    };
    const needs = (what: string, { title }: Data): undefined =>
      void tell(`The agent needs you: ${what} (${title})`);

    return proxy<Data>({
      name: "notify",
      version: "1.0.0",
      session: () => ({ startedAt: Date.now(), title: basename(process.cwd()) }),
      prompt(_, { data }) {
        data.startedAt = Date.now();
      },
      update(update, { data }) {
        if (update.sessionUpdate === "session_info_update" && update.title) data.title = update.title;
        return undefined;
      },
      permission: ({ title }, { data }) => needs(title, data),
      elicitation: ({ message }, session) =>
        needs(message, session?.data ?? { startedAt: 0, title: basename(process.cwd()) }),
      turnEnd({ stopReason }, { data }) {
        if (stopReason === "cancelled" || Date.now() - data.startedAt < afterMs) return;
        tell(`The agent is ${stopReason === "end_turn" ? "done" : `done: ${stopReason}`} (${data.title})`);
      },
    });
  },
};

/** False where the process has no terminal: an editor has started it. */
function atTerminal(text: string): boolean {
  try {
    const terminal = openSync("/dev/tty", "w");
    writeSync(terminal, `\u0007${noticeSequence(text, process.env)}`);
    closeSync(terminal);
    return true;
  } catch {
    return false;
  }
}

/** Where no such program is, nobody is told. */
function onDesktop(text: string): void {
  const [program, ...args] =
    process.platform === "darwin"
      ? [
          "osascript",
          "-e",
          "on run argv",
          "-e",
          'display notification (item 1 of argv) with title "Parley"',
          "-e",
          "end run",
        ]
      : ["notify-send", "--app-name=Parley", "Parley"];
  run(program ?? "", [...args, text], () => undefined);
}

function run(program: string, args: readonly string[], failed: (reason: string) => void): void {
  const child = spawn(program, args, { stdio: "ignore", detached: true });
  child.on("error", ({ message }) => failed(message)).unref();
}
