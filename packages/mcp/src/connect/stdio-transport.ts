// Runs an MCP server in its own process group, which a watchdog ends with us.

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { Transport as Wire } from "@parley/acp";
import { spawnTransport } from "@parley/acp/node";
import type { EndReason, Fault } from "@parley/acp/transport";
import { settledAnswers } from "./settled-answers.ts";

/** The environment variables passed to servers; our own keys are not among them. */
const inherited =
  /^(?:HOME|LOGNAME|PATH|SHELL|TERM|USER|LANG|LC_\w+|TZ|TMPDIR|XDG_\w+|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|(?:https?|no|all)_proxy|APPDATA|COMSPEC|HOMEDRIVE|HOMEPATH|LOCALAPPDATA|PATHEXT|PROCESSOR_ARCHITECTURE|PROGRAMDATA|PROGRAMFILES|PROGRAMFILES\(X86\)|PROGRAMW6432|SYSTEMDRIVE|SYSTEMROOT|TEMP|TMP|USERNAME|USERPROFILE|WINDIR)$/i;

/** Waiting times after the end of its input and after SIGTERM. */
const graceMs = 700;
const killMs = 700;
/** Kept to show why it ended. */
const stderrTailBytes = 4 * 1024;

/** How a server is started. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export class StdioTransport implements Transport {
  onclose: Transport["onclose"];
  onerror: Transport["onerror"];
  onmessage: Transport["onmessage"];
  readonly #command: ServerCommand;
  #wire: Wire | undefined;
  #canSend = Promise.withResolvers<void>();
  #end: EndReason | undefined;

  constructor(command: ServerCommand) {
    this.#command = command;
    this.#canSend.resolve();
  }

  /** The reason of its end; undefined while it runs. */
  get end(): EndReason | undefined {
    return this.#end;
  }

  async start(): Promise<void> {
    const { command, args, cwd, env } = this.#command;
    const hidden = Object.keys(process.env).filter((name) => !inherited.test(name));
    this.#wire = spawnTransport(command, args, {
      framing: "ndjson",
      cwd,
      env: { ...Object.fromEntries(hidden.map((name) => [name, undefined])), ...env },
      graceMs,
      killMs,
      stderrTailBytes,
    });
    this.#wire.start({
      message: (value) => {
        // the client validates them
        for (const each of settledAnswers(value)) this.onmessage?.(each as JSONRPCMessage);
      },
      idle: () => undefined,
      reject: (fault) => this.#reject(fault),
      drain: () => this.#canSend.resolve(),
      end: (reason) => {
        this.#end = reason;
        this.#canSend.resolve();
        this.onclose?.();
      },
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#canSend.promise;
    if (this.#wire === undefined || this.#end !== undefined) throw new Error("the server has exited");
    if (!this.#wire.send(message)) this.#canSend = Promise.withResolvers();
  }

  async close(): Promise<void> {
    await this.#wire?.close();
  }

  /** Answers a request whose answer was too large or too deep with an error; other noise on stdout is ignored. */
  #reject({ kind, bytes, head }: Fault): void {
    const id = /^\s*\{[^{[]*"id"\s*:\s*(\d+)/.exec(head)?.[1];
    if (kind === "parse" || kind === "utf8" || id === undefined) return;
    const message = kind === "too_large" ? `its answer has ${bytes} bytes or more` : "its answer is too deep";
    this.onmessage?.({ jsonrpc: "2.0", id: Number(id), error: { code: -32_603, message } });
  }
}
