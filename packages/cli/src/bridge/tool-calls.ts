// What the tools do, at the bridge's end: calls of the editor's files and terminals, and their results as text
// for a model. One of these for each MCP server that an agent has started; its terminals end with it.

import {
  type ClientToolServices,
  type ExitStatus,
  RequestError,
  type TerminalHandle,
  type TerminalOutput,
} from "@parley/acp";
import { defaultTimeoutMs } from "./tool-definitions.ts";

/** More of a command's output than a model would read. The editor keeps the end of it. */
const outputByteLimit = 1024 * 1024;

/** Validated by the tool's schema, in the other process. */
interface Arguments {
  readonly path: string;
  readonly content: string;
  readonly line?: number;
  readonly limit?: number;
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly terminalId: string;
}

export class ClientToolCalls {
  readonly #services: ClientToolServices;
  readonly #terminals = new Map<string, TerminalHandle>();

  constructor(services: ClientToolServices) {
    this.#services = services;
  }

  /** The text that the model gets. Rejects with a sentence that says what went wrong. */
  call(name: string, given: unknown, signal: AbortSignal): Promise<string> {
    const args = given as Arguments;
    switch (name) {
      case "read_text_file":
        return this.#read(args, signal);
      case "write_text_file":
        return this.#write(args, signal);
      case "run_command":
        return this.#run(args, signal);
      case "terminal_output":
        return this.#show(this.#terminal(args));
      case "terminal_wait":
        return this.#wait(this.#terminal(args), args, signal);
      case "terminal_kill":
        return this.#kill(this.#terminal(args));
      case "terminal_release":
        return this.#release(this.#terminal(args));
      default:
        throw new RequestError(-32601, `there is no tool ${name}`);
    }
  }

  /** Ends the commands that nobody can ask about any more. */
  async close(): Promise<void> {
    const all = [...this.#terminals.values()];
    this.#terminals.clear();
    // an editor that has gone has ended them itself
    await Promise.allSettled(all.map((terminal) => terminal.release()));
  }

  #read({ path, line, limit }: Arguments, signal: AbortSignal): Promise<string> {
    const range = { ...(line === undefined ? {} : { line }), ...(limit === undefined ? {} : { limit }) };
    return this.#services.files().readText(path, { ...range, signal });
  }

  async #write({ path, content }: Arguments, signal: AbortSignal): Promise<string> {
    await this.#services.files().writeText(path, content, { signal });
    return `wrote ${path}`;
  }

  async #run(args: Arguments, signal: AbortSignal): Promise<string> {
    const { command, cwd = this.#services.cwd } = args;
    const terminal = await this.#services.terminals().create({
      command,
      cwd,
      outputByteLimit,
      signal,
      ...(args.args === undefined ? {} : { args: args.args }),
      ...(args.env === undefined ? {} : { env: args.env }),
    });
    this.#terminals.set(terminal.terminalId, terminal);
    try {
      return await this.#wait(terminal, args, signal);
    } catch (error) {
      // nobody has heard of this terminal, so nobody could end it
      this.#terminals.delete(terminal.terminalId);
      await terminal.release().catch(() => undefined);
      throw error;
    }
  }

  /** With the end of the command its terminal is let go. */
  async #wait(terminal: TerminalHandle, { timeoutMs }: Arguments, signal: AbortSignal): Promise<string> {
    const { terminalId } = terminal;
    const ended = await endedWithin(terminal, timeoutMs ?? defaultTimeoutMs, signal);
    const output = await terminal.output();
    if (!ended) return `${shown(output)}\n[still running; terminalId: ${terminalId}]`;
    this.#terminals.delete(terminalId);
    await terminal.release();
    return shown({ ...output, exitStatus: ended });
  }

  async #show(terminal: TerminalHandle): Promise<string> {
    const output = await terminal.output();
    return output.exitStatus === undefined ? `${shown(output)}\n[still running]` : shown(output);
  }

  async #kill(terminal: TerminalHandle): Promise<string> {
    await terminal.kill();
    return `ended ${terminal.terminalId}; its output can still be read`;
  }

  async #release(terminal: TerminalHandle): Promise<string> {
    this.#terminals.delete(terminal.terminalId);
    await terminal.release();
    return `released ${terminal.terminalId}`;
  }

  #terminal({ terminalId }: Arguments): TerminalHandle {
    const terminal = this.#terminals.get(terminalId);
    if (terminal !== undefined) return terminal;
    const known = [...this.#terminals.keys()].join(", ") || "none";
    throw new RequestError(
      -32602,
      `there is no terminal ${terminalId.slice(0, 100)}; those still there: ${known}`,
    );
  }
}

/** How it ended, or undefined when it still runs. */
async function endedWithin(
  terminal: TerminalHandle,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ExitStatus | undefined> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  try {
    return await terminal.waitForExit({ signal: AbortSignal.any([signal, late.signal]) });
  } catch (error) {
    if (late.signal.aborted && !signal.aborted) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function shown({ output, truncated, exitStatus }: TerminalOutput): string {
  const { exitCode, signal } = exitStatus ?? {};
  const how = signal == null ? `exit code ${exitCode ?? "unknown"}` : `ended by ${signal}`;
  return [
    ...(truncated ? ["[the beginning was left out]"] : []),
    output.endsWith("\n") ? output.slice(0, -1) : output,
    ...(exitStatus === undefined ? [] : [`[${how}]`]),
  ]
    .filter((part) => part !== "")
    .join("\n");
}
