// Executes tool calls with the editor's files and terminals, and returns text for a model. One instance per MCP server.

import { RequestError, type TerminalHandle } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import type { ExitStatus, TerminalSnapshot } from "@parley/acp/model";
import type { ClientToolServices } from "@parley/acp/relay";
import { defaultTimeoutMs } from "./tool-definitions.ts";

/** The editor keeps the end of longer output. */
const outputByteLimit = 1024 * 1024;

/** Validated by the tool's schema in the MCP server. */
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

  /** Returns the text for the model. */
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
        throw new RequestError("method_not_found", `unknown tool ${name}`);
    }
  }

  /** Ends running commands. */
  async close(): Promise<void> {
    const all = [...this.#terminals.values()];
    this.#terminals.clear();
    // a closed editor has ended them itself
    await Promise.allSettled(all.map((terminal) => terminal.release()));
  }

  #read({ path, line, limit }: Arguments, signal: AbortSignal): Promise<string> {
    return this.#services.files().readText(path, { ...optional({ line, limit }), signal });
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
      ...optional({ args: args.args, env: args.env }),
    });
    this.#terminals.set(terminal.terminalId, terminal);
    try {
      return await this.#wait(terminal, args, signal);
    } catch (error) {
      // the agent does not know this terminal and cannot end it
      this.#terminals.delete(terminal.terminalId);
      await terminal.release().catch(() => undefined);
      throw error;
    }
  }

  /** Releases the terminal when the command has ended. */
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
      "invalid_params",
      `unknown terminal ${terminalId.slice(0, 100)}; known terminals: ${known}`,
    );
  }
}

/** The exit status, or undefined if it still runs. */
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

function shown({ output, truncated, exitStatus }: TerminalSnapshot): string {
  const { exitCode, signal } = exitStatus ?? {};
  const how = signal == null ? `exit code ${exitCode ?? "unknown"}` : `ended by ${signal}`;
  return [
    ...(truncated ? ["[beginning truncated]"] : []),
    output.endsWith("\n") ? output.slice(0, -1) : output,
    ...(exitStatus === undefined ? [] : [`[${how}]`]),
  ]
    .filter((part) => part !== "")
    .join("\n");
}
