// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// Connects the coding agent, with a scripted model, to our client in memory.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  type ClientConnection,
  type ClientDefinition,
  type ClientSession,
  type ContentBlock,
  client,
  type PermissionRequest,
  type SessionUpdate,
  textOf,
} from "@parley/acp";
import type { ProtocolVersion } from "@parley/acp/internal";
import type { McpServer } from "@parley/acp/model";
import { memoryPair } from "@parley/acp/transport";
import { type CodingAgentOptions, codingAgent } from "../../src/coding-agent.ts";
import type { Model, ModelEvent, ModelFacts, ModelMessage, ModelRequest } from "../../src/model/model.ts";
import { ModelError } from "../../src/model/model.ts";

/** The answer to one request: events, or a function of the request. */
export type Answer = readonly ModelEvent[] | ((request: ModelRequest) => AsyncIterable<ModelEvent>);

export interface ScriptedModel extends Model {
  /** The requests so far, without the notes about the situation. */
  readonly requests: ModelRequest[];
  /** The same requests as they were. */
  readonly sent: ModelRequest[];
}

export const facts: ModelFacts = {
  id: "scripted",
  name: "Scripted",
  contextWindow: 100_000,
  takesImages: false,
  takesAudio: false,
  efforts: ["none", "low", "medium", "high"],
};

/** Answers request after request; past the last one it fails. */
export function scriptedModel(answers: readonly Answer[], more: Partial<ModelFacts> = {}): ScriptedModel {
  const requests: ModelRequest[] = [];
  const sent: ModelRequest[] = [];
  return {
    facts: { ...facts, ...more },
    requests,
    sent,
    async *stream(request) {
      const answer = answers[requests.length];
      requests.push({ ...request, messages: request.messages.flatMap(withoutNotes) });
      sent.push({ ...request, messages: [...request.messages] });
      if (answer === undefined) throw new ModelError("bad_request", "the script is at its end");
      if (typeof answer === "function") yield* answer(request);
      else yield* answer;
    },
  };
}

function withoutNotes(message: ModelMessage): ModelMessage[] {
  if (message.role !== "user") return [message];
  const isNote = (part: (typeof message.content)[number]) =>
    part.type === "text" && part.text.startsWith("<situation>");
  const content = message.content.filter((part) => !isNote(part));
  return content.length === 0 ? [] : [{ ...message, content }];
}

export const says = (text: string): ModelEvent[] => [
  { type: "text", text },
  { type: "end", cause: "stop", usage: { input: 100, output: 10 } },
];

export const calls = (...wanted: readonly (readonly [name: string, input: unknown])[]): ModelEvent[] => [
  ...wanted.map(([name, input], i) => ({ type: "tool_call" as const, id: `call-${i}`, name, input })),
  { type: "end", cause: "tool_calls", usage: { input: 100, output: 10 } },
];

/** The same calls, with their arguments streamed. */
export const written = (...wanted: readonly (readonly [name: string, input: unknown])[]): ModelEvent[] => [
  ...wanted.flatMap(([name, input], i) => {
    const text = JSON.stringify(input);
    const pieces = ["", text.slice(0, 12), text.slice(12)];
    return pieces.map((piece) => ({ type: "tool_input" as const, id: `call-${i}`, name, text: piece }));
  }),
  ...calls(...wanted),
];

export interface Talk {
  readonly agent: ClientConnection;
  readonly session: ClientSession;
  readonly updates: SessionUpdate[];
  readonly asks: PermissionRequest[];
  readonly log: string[];
  readonly cwd: string;
  /** Ends the connection. */
  end(): Promise<void>;
}

export interface TalkOptions extends Partial<Omit<CodingAgentOptions, "version">> {
  readonly version: ProtocolVersion;
  readonly cwd: string;
  /** Option ids, one per question; then a rejection. */
  readonly answers?: readonly string[];
  readonly clientDefinition?: Partial<ClientDefinition>;
  readonly mcpServers?: readonly McpServer[];
  /** What the client offers itself. */
  readonly clientTools?: readonly object[];
  /** The setup of a test may be passed on as it is. */
  readonly context?: TestContext;
}

/** Runs a test in both versions, each in its own folder with these files. */
export function inEveryVersion(
  name: string,
  files: Readonly<Record<string, string>>,
  run: (setup: { version: ProtocolVersion; cwd: string; context: TestContext }) => Promise<void>,
): void {
  for (const version of [1, 2] as const) {
    test(`${name} (v${version})`, { timeout: 20_000 }, (context) => {
      return run({ version, cwd: temporaryFolder(context, files), context });
    });
  }
}

/** The connections of the test that runs. An agent has folders of its own, which it removes at its end. */
const open = new Set<() => Promise<void>>();

export function temporaryFolder(context: TestContext, files: Readonly<Record<string, string>>): string {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "parley-agent-test-")));
  context.after(async () => {
    await Promise.all([...open].map((end) => end()));
    rmSync(cwd, { recursive: true, force: true });
  });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  return cwd;
}

/** An agent and a client that are connected. */
export async function connected(
  options: TalkOptions,
): Promise<{ agent: ClientConnection; asks: PermissionRequest[]; log: string[]; end(): Promise<void> }> {
  const {
    version,
    cwd: _,
    mcpServers: __,
    clientTools: ___,
    context: ____,
    answers = [],
    clientDefinition = {},
    ...agentOptions
  } = options;
  const [left, right] = memoryPair();
  const asks: PermissionRequest[] = [];
  const log: string[] = [];
  const served = codingAgent({
    version: "1",
    // tests are alike with and without bubblewrap
    sandbox: "off",
    editions: [`v${version}`],
    log: (level, message, data) =>
      log.push(`${level}: ${message} ${String((data as { error?: unknown })?.error ?? "")}`),
    ...agentOptions,
  }).connect(left);
  const agent = await client({
    name: "probe",
    version: "1",
    editions: [`v${version}`],
    requestPermission(ask) {
      asks.push(ask);
      return answers[asks.length - 1];
    },
    ...clientDefinition,
  }).connect(right);
  const end = async () => {
    open.delete(end);
    await right.close();
    await served.closed;
  };
  open.add(end);
  return { agent, asks, log, end };
}

export async function talk(options: TalkOptions): Promise<Talk> {
  const { cwd, mcpServers = [], clientTools = [] } = options;
  const link = await connected(options);
  const updates: SessionUpdate[] = [];
  const session = await link.agent.newSession({
    cwd,
    mcpServers,
    ...(clientTools.length > 0 && { tools: clientTools }),
    onUpdate: (update) => void updates.push(update),
  });
  return { ...link, session, updates, cwd };
}

export function said(updates: readonly SessionUpdate[]): string {
  return texts(updates, "agent_message");
}

export function thought(updates: readonly SessionUpdate[]): string {
  return texts(updates, "agent_thought");
}

/** In pieces and, in a history, as whole messages. */
function texts(updates: readonly SessionUpdate[], kind: "agent_message" | "agent_thought"): string {
  return updates
    .map((update) => {
      if (update.sessionUpdate === `${kind}_chunk` && "content" in update)
        return textOf((update as { content: ContentBlock }).content);
      return update.sessionUpdate === kind ? textOf(update.content ?? []) : "";
    })
    .join("");
}

type ToolUpdate = Extract<SessionUpdate, { sessionUpdate: "tool_call_update" }>;

export function toolUpdates(updates: readonly SessionUpdate[]): ToolUpdate[] {
  return updates.filter((update) => update.sessionUpdate === "tool_call_update");
}

/** `title: pending > in_progress > completed`, call by call. */
export function toolStories(updates: readonly SessionUpdate[]): string[] {
  const stories = new Map<string, { title: string; statuses: string[] }>();
  for (const { toolCallId, title, status } of toolUpdates(updates)) {
    const story = stories.get(toolCallId) ?? { title: "", statuses: [] };
    if (title != null) story.title = title;
    if (status != null && story.statuses.at(-1) !== status) story.statuses.push(status);
    stories.set(toolCallId, story);
  }
  return Array.from(stories.values(), ({ title, statuses }) => `${title}: ${statuses.join(" > ")}`);
}
