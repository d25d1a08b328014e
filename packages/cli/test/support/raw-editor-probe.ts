// An editor that writes any bytes to `parley` and keeps every line that comes back.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import type { AgentScenario } from "@parley/conformance/testing";
import { launcher, programCommand } from "../../../acp/test/support/programs.ts";

export type Line = Record<string, unknown>;

export function scriptedCommand(scenario: Omit<AgentScenario, "parley" | "version">): string[] {
  const json = JSON.stringify({ parley: "agent-scenario", version: 1, ...scenario });
  return [...programCommand("conformance/test/support/scripted-agent-process.ts"), json];
}

export class RawEditor {
  readonly child: ChildProcessWithoutNullStreams;
  readonly lines: Line[] = [];
  readonly exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  complaints = "";
  #rest = "";
  #arrived = Promise.withResolvers<void>();

  constructor(args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
    this.child = spawn(launcher, args, { env });
    this.child.stdin.on("error", () => {
      // it has gone; what the test waits for says so
    });
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.complaints += text;
    });
    this.child.stdout.setEncoding("utf8").on("data", (text: string) => this.#read(text));
    this.exit = once(this.child, "close").then(([code, signal]) => {
      this.#wake();
      return { code, signal };
    });
  }

  write(bytes: string | Buffer): void {
    this.child.stdin.write(bytes);
  }

  send(message: object): void {
    this.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  async until(isIt: (line: Line) => boolean): Promise<Line> {
    for (;;) {
      const found = this.lines.find(isIt);
      if (found !== undefined) return found;
      if (this.child.exitCode !== null || this.child.signalCode !== null)
        throw new Error(`it has gone (${this.child.exitCode}): ${this.complaints}`);
      await this.#arrived.promise;
    }
  }

  ask(id: number | string, method: string, params: object): Promise<Line> {
    this.send({ id, method, params });
    return this.until((line) => line.id === id && line.method === undefined);
  }

  /** Answers each request of the agent from now on, by its method. */
  serve(answers: Readonly<Record<string, (params: Line) => unknown>>): void {
    const answered = new Set<unknown>(this.lines);
    const next = async (): Promise<void> => {
      const isOpen = (line: Line): boolean => line.id !== undefined && typeof line.method === "string";
      const request = await this.until((line) => isOpen(line) && !answered.has(line));
      answered.add(request);
      const { id, method, params } = request as { id: number; method: string; params: Line };
      const answer = answers[method];
      if (answer === undefined) this.send({ id, error: { code: -32601, message: `no ${method} here` } });
      else this.send({ id, result: answer(params) });
      await next();
    };
    // it ends with the agent
    next().catch(() => undefined);
  }

  answers(id: unknown): Line[] {
    return this.lines.filter((line) => line.id === id && line.method === undefined);
  }

  async open(version: 1 | 2): Promise<string> {
    const params =
      version === 1
        ? { protocolVersion: 1, clientCapabilities: {} }
        : { protocolVersion: 2, info: { name: "raw", version: "1" }, capabilities: {} };
    await this.ask("init", "initialize", params);
    const { result } = await this.ask("new", "session/new", { cwd: "/tmp", mcpServers: [] });
    return (result as { sessionId: string }).sessionId;
  }

  /** As if it had been killed. */
  die(): void {
    this.child.stdin.destroy();
    this.child.stdout.destroy();
  }

  #read(text: string): void {
    const parts = (this.#rest + text).split("\n");
    this.#rest = parts.pop() ?? "";
    for (const part of parts) this.lines.push(JSON.parse(part));
    this.#wake();
  }

  #wake(): void {
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers();
  }
}

export const prompt = (sessionId: string, text: string): object => ({
  sessionId,
  prompt: [{ type: "text", text }],
});
