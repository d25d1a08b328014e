// The proxy `notify`: tells the user when a turn is done, and when the agent needs an answer.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, writeSync } from "node:fs";
import { basename } from "node:path";
import { setTimeout } from "node:timers/promises";
import { proxy } from "@parley/acp/proxy";
import { option } from "../command/command.ts";
import { noticeSequence } from "../screen/terminal-requests.ts";
import { safeLine } from "../terminal/sanitise.ts";
import type { ShippedProxy } from "./shipped-proxy.ts";

interface Data {
  /** When the running turn began. Undefined while no turn runs. */
  startedAt: number | undefined;
  title: string;
}

const defaultAfterMs = 10_000;
/** From one notice to the next. */
const leastMs = 1_000;
/** A program may take this long to show one. */
const mostMs = 30_000;

export const notify: ShippedProxy = {
  name: "notify",
  summary: "Notifies you when a turn ends or the agent needs you: bell, desktop notification or a command",
  options: {
    after: option("TIME", "Stay silent after turns shorter than this (default: 10s)"),
    command: option("PROGRAM", "Run this program instead, with the message as its argument"),
  },

  create(given, { warn }) {
    const afterMs = given.time("after") ?? defaultAfterMs;
    const command = given.text("command");
    const { tell, end } = oneAtATime(async (line) => {
      if (command !== undefined)
        await run(command, [line], (reason) => warn(`cannot start ${command}: ${reason}`));
      else if (!atTerminal(line)) await onDesktop(line);
    });
    const folder = basename(process.cwd());
    const needs = (what: string, data: Data | undefined): undefined =>
      tell(`The agent needs you: ${what} (${data?.title ?? folder})`);

    return proxy<Data>({
      name: "notify",
      version: "1.0.0",
      session: () => ({ startedAt: undefined, title: folder }),
      prompt(_, { data }) {
        data.startedAt ??= Date.now();
      },
      update(update, { data }) {
        if (update.sessionUpdate === "session_info_update" && update.title) data.title = update.title;
        return undefined;
      },
      permission: ({ title }, { data }) => needs(title, data),
      elicitation: ({ message }, session) => needs(message, session?.data),
      turnEnd({ stopReason }, { data }) {
        const ms = Date.now() - (data.startedAt ?? Date.now());
        data.startedAt = undefined;
        if (stopReason === "cancelled" || ms < afterMs) return;
        tell(`The agent is ${stopReason === "end_turn" ? "done" : `done: ${stopReason}`} (${data.title})`);
      },
      closed: end,
    });
  },
};

/** An agent may ask a thousand things at once: the last one waits until the one before was shown, and a second is over. */
function oneAtATime(show: (line: string) => Promise<void>) {
  let last: string | undefined;
  let isBusy = false;
  const next = async (): Promise<void> => {
    isBusy = true;
    while (last !== undefined) {
      const line = last;
      last = undefined;
      await Promise.all([show(line), setTimeout(leastMs, undefined, { ref: false })]);
    }
    isBusy = false;
  };
  return {
    tell(text: string): undefined {
      last = safeLine(text);
      if (!isBusy) void next();
    },
    /** What waits is shown now. */
    end(): void {
      if (last !== undefined) void show(last);
      last = undefined;
    },
  };
}

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

const onMac = 'on run argv\ndisplay notification (item 1 of argv) with title "Parley"\nend run';

/** Where no such program is, nobody is told. */
function onDesktop(text: string): Promise<void> {
  if (process.platform === "darwin") return run("osascript", ["-e", onMac, text], () => undefined);
  return run("notify-send", ["--app-name=Parley", "Parley", text], () => undefined);
}

/** Resolves when it has ended. */
async function run(
  program: string,
  args: readonly string[],
  failed: (reason: string) => void,
): Promise<void> {
  const child = spawn(program, args, { stdio: "ignore", detached: true });
  child.unref();
  // one that hangs would keep the next notice back
  const late = setTimeout(mostMs, undefined, { ref: false }).then(() => child.kill());
  const ended = once(child, "exit").catch((error: Error) => failed(error.message));
  await Promise.race([ended, late]);
}
