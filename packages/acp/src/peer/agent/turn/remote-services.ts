// The files and terminals of a version 1 client, used over the connection.

import { optional } from "../../../base/objects.ts";
import type { Files, ReadTextOptions, WriteTextOptions } from "../../../model/files.ts";
import type {
  CreateTerminalOptions,
  ExitStatus,
  TerminalHandle,
  TerminalOutput,
  Terminals,
} from "../../../model/terminals.ts";

/** Sends a request to the client and gives its decoded result. */
export type AskClient = (method: string, params: object, signal?: AbortSignal) => Promise<unknown>;

export function clientFiles(
  sessionId: string,
  ask: AskClient,
  can: { readonly read: boolean; readonly write: boolean },
): Files {
  return {
    canRead: can.read,
    canWrite: can.write,
    async readText(path: string, { line, limit, signal }: ReadTextOptions = {}) {
      const params = { sessionId, path, ...optional({ line, limit }) };
      const result = await ask("fs/read_text_file", params, signal);
      return (result as { content: string }).content; // validated by the method's row
    },
    async writeText(path: string, content: string, { signal }: WriteTextOptions = {}) {
      await ask("fs/write_text_file", { sessionId, path, content }, signal);
    },
  };
}

export function clientTerminals(
  sessionId: string,
  ask: AskClient,
  created: (terminal: TerminalHandle) => void,
  released: (terminal: TerminalHandle) => void,
): Terminals {
  return {
    async create({ command, args, env, cwd, outputByteLimit, signal }: CreateTerminalOptions) {
      const params = {
        sessionId,
        command,
        ...optional({
          args: args && [...args],
          env: env && Object.entries(env).map(([name, value]) => ({ name, value })),
          cwd,
          outputByteLimit,
        }),
      };
      const result = await ask("terminal/create", params, signal);
      const { terminalId } = result as { terminalId: string }; // validated by the method's row
      const terminal = terminalHandle(sessionId, terminalId, ask, released);
      created(terminal);
      return terminal;
    },
  };
}

function terminalHandle(
  sessionId: string,
  terminalId: string,
  ask: AskClient,
  onRelease: (terminal: TerminalHandle) => void,
): TerminalHandle {
  const params = { sessionId, terminalId };
  let released: Promise<void> | undefined;
  const terminal: TerminalHandle = {
    terminalId,
    async output(): Promise<TerminalOutput> {
      const { output, truncated, exitStatus } = (await ask("terminal/output", params)) as {
        output: string;
        truncated: boolean;
        exitStatus?: ExitStatus | null;
      };
      return { output, truncated, ...optional({ exitStatus: exitStatus ?? undefined }) };
    },
    async waitForExit({ signal } = {}): Promise<ExitStatus> {
      return (await ask("terminal/wait_for_exit", params, signal)) as ExitStatus;
    },
    async kill() {
      await ask("terminal/kill", params);
    },
    release() {
      // a second release would be an error at the client, and tools release in finally blocks
      if (released === undefined) {
        onRelease(terminal);
        released = ask("terminal/release", params).then(() => undefined);
      }
      return released;
    },
  };
  return terminal;
}
