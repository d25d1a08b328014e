// Simulates the files and terminals of a scripted client.

import { RequestError } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import type {
  CreateTerminalOptions,
  ExitStatus,
  Files,
  TerminalHandle,
  TerminalOutputPart,
  Terminals,
} from "@parley/acp/model";
import type { CommandScript } from "./client-scenario.ts";

type Note = (event: object) => void;

/** Files in a map, by path. Of the encodings, only base64 is not text. */
export function scriptedFiles(texts: Map<string, string>, note: Note): Files {
  return {
    canRead: true,
    canWrite: true,
    async readText(path, { line, limit, encoding } = {}) {
      const text = texts.get(path);
      note({ service: "read", path, ...optional({ line, limit, encoding }), found: text !== undefined });
      if (text === undefined) {
        throw new RequestError("not_found", "there is no such file", { data: { reason: "not_found" } });
      }
      if (encoding === "base64") return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
      if (line === undefined && limit === undefined) return text;
      const first = (line ?? 1) - 1;
      const lines = text.split(/(?<=\n)/);
      return lines.slice(first, limit === undefined ? undefined : first + limit).join("");
    },
    async writeText(path, content, { encoding, overwrite } = {}) {
      note({ service: "write", path, content, ...optional({ encoding, overwrite }) });
      if (overwrite === false && texts.has(path)) {
        throw new RequestError("conflict", "the file exists", { data: { reason: "conflict" } });
      }
      const bytes =
        encoding === "base64" ? Uint8Array.from(atob(content), (each) => each.charCodeAt(0)) : undefined;
      texts.set(path, bytes === undefined ? content : new TextDecoder().decode(bytes));
    },
  };
}

/** Runs the commands of a scenario; others cannot be started. */
export function scriptedTerminals(commands: readonly CommandScript[], note: Note): Terminals {
  const terminals = new Map<string, TerminalHandle>();
  return {
    find: (terminalId) => terminals.get(terminalId),
    async create({ command, args = [], timeoutMs }: CreateTerminalOptions) {
      const line = [command, ...args].join(" ");
      note({ service: "create", command: line, ...optional({ timeoutMs }) });
      const script = commands.find((each) => each.command === line);
      if (script === undefined) {
        const data = { reason: "command_not_found" };
        throw new RequestError("not_found", "the scenario has no such command", { data });
      }
      const terminal = scriptedTerminal(`scripted-terminal-${terminals.size + 1}`, script, note);
      terminals.set(terminal.terminalId, terminal);
      // no time passes in a scenario: a limit ends the command at once
      if (timeoutMs !== undefined) terminal.end();
      return terminal;
    },
  };
}

function scriptedTerminal(terminalId: string, script: CommandScript, note: Note) {
  const { command, output = "", pid, exit = { exitCode: 0 } } = script;
  let exitStatus: ExitStatus | undefined = exit === "runs" ? undefined : exit;
  const exited = Promise.withResolvers<ExitStatus>();
  if (exitStatus !== undefined) exited.resolve(exitStatus);
  const end = (signal = "SIGTERM") => {
    exitStatus ??= { signal };
    exited.resolve(exitStatus);
  };
  return {
    terminalId,
    ...optional({ pid }),
    end,
    onOutput(listener: (part: TerminalOutputPart) => void) {
      if (output !== "") listener({ data: output });
      return () => undefined;
    },
    async output() {
      note({ service: "output", command });
      return { output, truncated: false, ...optional({ exitStatus }) };
    },
    async waitForExit({ timeoutMs }: { readonly timeoutMs?: number | undefined } = {}) {
      note({ service: "wait", command, ...optional({ timeoutMs }) });
      if (timeoutMs !== undefined && exitStatus === undefined) return { timedOut: true };
      return exited.promise;
    },
    async kill({ signal }: { readonly signal?: string | undefined } = {}) {
      note({ service: "kill", command, ...optional({ signal }) });
      end(signal);
    },
    async release() {
      note({ service: "release", command });
      end();
    },
  };
}
