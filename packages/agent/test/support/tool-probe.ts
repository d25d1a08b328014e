// Calls a tool in a turn of a real agent with a real client, in a temporary workspace.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import {
  agent,
  type ClientDefinition,
  client,
  type SessionUpdate,
  type ToolCallHandle,
  type Turn,
} from "@parley/acp";
import type { ProtocolVersion } from "@parley/acp/internal";
import type { PlanEntry } from "@parley/acp/model";
import { memoryPair } from "@parley/acp/transport";
import {
  type CommandSandbox,
  type Mode,
  type PreparedCall,
  type RunContext,
  type Tool,
  type ToolContext,
  ToolError,
  type ToolResult,
  type WebAccess,
} from "../../src/tools/base/tool.ts";
import { openWorkspace } from "../../src/tools/workspace.ts";

export interface ProbeOptions {
  readonly version?: ProtocolVersion;
  /** What the client offers, or answers. */
  readonly client?: Partial<ClientDefinition>;
  readonly additionalDirectories?: readonly string[];
  /** What the user answers to `ask`. */
  readonly answer?: string;
  readonly mode?: Mode;
  readonly web?: WebAccess;
  /** Default: off, so that tests are alike with and without bubblewrap. */
  readonly sandbox?: CommandSandbox;
  /** Hosts that commands may connect to. */
  readonly connects?: readonly string[];
}

export interface Called {
  readonly prepared: PreparedCall;
  readonly result: ToolResult;
  /** What the model is told, as one text. */
  readonly told: string;
}

export interface Probe {
  /** The working directory; `base/w`, with nothing in it. */
  readonly cwd: string;
  /** `base`, which is outside. */
  readonly base: string;
  at(path: string): string;
  put(path: string, content: string | Uint8Array): string;
  get(path: string): string;
  /** Prepares a call and runs it. Rejects with what the tool throws. */
  call(tool: Tool, input: unknown, signal?: AbortSignal): Promise<Called>;
  /** What a call would do; nothing runs. */
  prepare(tool: Tool, input: unknown): Promise<PreparedCall>;
  readonly updates: SessionUpdate[];
  onUpdate(listener: (update: SessionUpdate) => void): void;
  /** The lines that the agent wrote. */
  readonly wire: string[];
  readonly plans: (readonly PlanEntry[])[];
  readonly asked: { readonly question: string; readonly options: readonly string[] }[];
  readonly modes: Mode[];
}

export async function probe(t: TestContext, options: ProbeOptions = {}): Promise<Probe> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-tools-")));
  const cwd = join(base, "w");
  mkdirSync(cwd);
  const { additionalDirectories = [] } = options;
  const workspace = openWorkspace({
    cwd,
    additionalDirectories,
    outputParent: join(base, "outputs"),
    sandbox: options.sandbox ?? "off",
  });
  const updates: SessionUpdate[] = [];
  const wire: string[] = [];
  const plans: (readonly PlanEntry[])[] = [];
  const asked: { readonly question: string; readonly options: readonly string[] }[] = [];
  const modes: Mode[] = [];
  const jobs: ((turn: Turn) => Promise<void>)[] = [];
  const [near, far] = memoryPair();
  const contextOf = (turn: Turn, signal: AbortSignal = turn.signal): ToolContext => ({
    ...workspace.services(turn.client, undefined),
    signal,
    ...(options.web && { web: options.web }),
  });
  const runContext = (turn: Turn, call: ToolCallHandle, signal: AbortSignal): RunContext => ({
    ...contextOf(turn, signal),
    call,
    connect: async (host) => options.connects?.includes(host) === true,
    keeps: async () => false,
    delegate: async () => ({ text: "", requests: 1, calls: 0 }),
    background(start, run) {
      void turn.session.runInBackground(start, run).catch(() => undefined);
    },
    async plan(entries) {
      plans.push(entries);
      await turn.plan(entries);
    },
    async ask(question, choices) {
      asked.push({ question, options: choices });
      return options.answer;
    },
    modes: {
      current: options.mode ?? "architect",
      async switchTo(mode) {
        modes.push(mode);
      },
    },
  });
  agent({
    name: "probe",
    version: "1",
    connection: { tap: (direction, text) => (direction === "out" ? wire.push(text) : 0) },
    prompt: (turn) => jobs.shift()?.(turn),
  }).connect(far);
  const connected = await client({
    name: "probe",
    version: "1",
    editions: [`v${options.version ?? 2}`],
    ...options.client,
  }).connect(near);
  const session = await connected.newSession({ cwd });
  session.onUpdate((update) => {
    updates.push(update);
  });
  t.after(async () => {
    await connected.close();
    await workspace.close();
    rmSync(base, { recursive: true, force: true });
  });
  const inTurn = <Result>(work: (turn: Turn) => Promise<Result>): Promise<Result> => {
    const done = Promise.withResolvers<Result>();
    jobs.push(async (turn) => {
      await work(turn).then(done.resolve, done.reject);
    });
    return Promise.all([done.promise, session.prompt("go").result]).then(([result]) => result);
  };
  const call: Probe["call"] = (tool, input, signal) =>
    inTurn(async (turn) => {
      const prepared = await tool.prepare(input, contextOf(turn, signal));
      const result = await turn.tool({ ...prepared.presentation, rawInput: input }, (running) =>
        prepared.run(runContext(turn, running, signal ?? turn.signal)),
      );
      const told = result.content
        .map((part) => (part.type === "text" ? part.text : `[${part.type}]`))
        .join("\n");
      return { prepared, result, told };
    });
  return {
    cwd,
    base,
    at: (path) => join(cwd, path),
    put(path, content) {
      mkdirSync(dirname(join(cwd, path)), { recursive: true });
      writeFileSync(join(cwd, path), content);
      return join(cwd, path);
    },
    get: (path) => readFileSync(join(cwd, path), "utf8"),
    call,
    prepare: (tool, input) => inTurn((turn) => tool.prepare(input, contextOf(turn))),
    updates,
    onUpdate: (listener) => void session.onUpdate(listener),
    wire,
    plans,
    asked,
    modes,
  };
}

/** What the tool says where it refuses. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => assert.fail("it was accepted"),
    (error: unknown) => {
      if (error instanceof ToolError)
        return error.advice === undefined ? error.message : `${error.message}; ${error.advice}`;
      throw error;
    },
  );
}
