// `parley agent`, or whatever else answers like it, driven by hand: lines are counted and only the few that matter are
// parsed, so that the client costs next to nothing.

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const launcher = fileURLToPath(new URL("../../packages/cli/bin/parley", import.meta.url));

export interface RawMessage {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly update?: Readonly<Record<string, unknown>> };
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

export interface RawAgentOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Every line that is no answer to a request of ours. Default: they are counted. */
  readonly onMessage?: (message: RawMessage) => void;
}

export class RawAgent {
  /** Lines that were not parsed. */
  updates = 0;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number | string, (message: RawMessage) => void>();
  readonly #onMessage: RawAgentOptions["onMessage"];
  readonly #exited: Promise<unknown>;
  #rest = "";
  #ids = 0;

  constructor({ command: [command = "", ...args], cwd, env, onMessage }: RawAgentOptions) {
    this.#onMessage = onMessage;
    this.#child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#exited = new Promise((resolve) => this.#child.once("close", resolve));
    this.#child.stdout?.setEncoding("latin1").on("data", (chunk: string) => this.#read(chunk));
    this.#child.stdin?.on("error", () => undefined);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The most memory that it ever had, in MiB. NaN where the system does not say. */
  peakMiB(): number {
    try {
      const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
      return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
    } catch {
      return Number.NaN;
    }
  }

  /** The CPU time of the main thread so far, in milliseconds. NaN where the system does not say. */
  mainThreadMs(): number {
    try {
      return Number(readFileSync(`/proc/${this.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
    } catch {
      return Number.NaN;
    }
  }

  async request(method: string, params: object): Promise<Readonly<Record<string, unknown>>> {
    const id = ++this.#ids;
    const answer = new Promise<RawMessage>((resolve) => this.#waiting.set(id, resolve));
    this.send({ id, method, params });
    const { result, error } = await answer;
    if (result === undefined) throw new Error(`${method}: ${error?.message ?? "no result"}`);
    return result;
  }

  send(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  async handshake(): Promise<void> {
    await this.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  }

  /** The id of a new session. */
  async open(params: object): Promise<string> {
    return String((await this.request("session/new", { mcpServers: [], ...params }))["sessionId"]);
  }

  async close(): Promise<void> {
    this.#child.stdin?.end();
    await this.#exited;
  }

  #read(chunk: string): void {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    const isUpdate = line.includes('"method":"session/update"');
    if (isUpdate) this.updates++;
    if (isUpdate && this.#onMessage === undefined) return;
    const message = JSON.parse(line) as RawMessage; // our own agent says what the protocol wants
    const waiting = message.method === undefined ? this.#waiting.get(message.id ?? "") : undefined;
    if (waiting === undefined) return this.#onMessage?.(message);
    this.#waiting.delete(message.id ?? "");
    waiting(message);
  }
}
