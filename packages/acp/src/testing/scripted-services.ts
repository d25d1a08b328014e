// Simulates the files and terminals of a scripted client.

import { optional } from "../base/objects.ts";
import { RequestError } from "../jsonrpc/errors.ts";
import type { ExitStatus } from "../model/content.ts";
import type { CreateTerminalOptions, Files, TerminalHandle, Terminals } from "../model/services.ts";
import type { CommandScript } from "./client-scenario.ts";

type Note = (event: object) => void;

/** Files in a map, by path. */
export function scriptedFiles(texts: Map<string, string>, note: Note): Files {
  return {
    canRead: true,
    canWrite: true,
    async readText(path, { line, limit } = {}) {
      const text = texts.get(path);
      note({ service: "read", path, ...optional({ line, limit }), found: text !== undefined });
      if (text === undefined) {
        throw new RequestError("not_found", "there is no such file", { data: { reason: "not_found" } });
      }
      if (line === undefined && limit === undefined) return text;
      const first = (line ?? 1) - 1;
      const lines = text.split(/(?<=\n)/);
      return lines.slice(first, limit === undefined ? undefined : first + limit).join("");
    },
    async writeText(path, content) {
      note({ service: "write", path, content });
      texts.set(path, content);
    },
  };
}

/** Runs the commands of a scenario; others cannot be started. */
export function scriptedTerminals(commands: readonly CommandScript[], note: Note): Terminals {
  let created = 0;
  return {
    async create({ command, args = [] }: CreateTerminalOptions) {
      const line = [command, ...args].join(" ");
      note({ service: "create", command: line });
      const script = commands.find((each) => each.command === line);
      if (script === undefined) {
        const data = { reason: "command_not_found" };
        throw new RequestError("not_found", "the scenario has no such command", { data });
      }
      return scriptedTerminal(`scripted-terminal-${++created}`, script, note);
    },
  };
}

function scriptedTerminal(terminalId: string, script: CommandScript, note: Note): TerminalHandle {
  const { command, output = "", exit = { exitCode: 0 } } = script;
  let exitStatus: ExitStatus | undefined = exit === "runs" ? undefined : exit;
  const exited = Promise.withResolvers<ExitStatus>();
  if (exitStatus !== undefined) exited.resolve(exitStatus);
  const end = () => {
    exitStatus ??= { signal: "SIGTERM" };
    exited.resolve(exitStatus);
  };
  return {
    terminalId,
    async output() {
      note({ service: "output", command });
      return { output, truncated: false, ...optional({ exitStatus }) };
    },
    waitForExit() {
      note({ service: "wait", command });
      return exited.promise;
    },
    async kill() {
      note({ service: "kill", command });
      end();
    },
    async release() {
      note({ service: "release", command });
      end();
    },
  };
}
