// A client and an agent of version 1 with a dialect between them: both machines of the dialect, one at each end.

import type { DialectMachine, DialectMachines, DialectMessage, DialectStep } from "@parley/acp/transport";
import type { Example, Json } from "../../../acp/test/documents/documents.ts";

type Side = "client" | "agent";

const otherSide = { client: "agent", agent: "client" } as const;

export class DialectPair {
  readonly lost: string[] = [];
  /** What was said in the dialect. */
  readonly wire: DialectMessage[] = [];
  /** What each side heard in version 1. */
  readonly heard: Readonly<Record<Side, DialectMessage[]>> = { client: [], agent: [] };
  readonly #machines: Readonly<Record<Side, DialectMachine>>;
  /** How our side answers what a machine asks by itself, by method. */
  readonly #answers: Json;
  #ids = 9000;

  constructor(dialect: DialectMachines, answers: Json = {}) {
    this.#answers = answers;
    const clock = { now: () => Date.parse("2026-02-04T10:30:00Z"), after: () => () => undefined };
    const options = { clock, lost: (what: string) => this.lost.push(what) };
    this.#machines = { client: dialect.clientSide(options), agent: dialect.agentSide(options) };
  }

  /** What arrives in version 1 at a side, after a message of the peer. */
  received(side: Side, message: DialectMessage): readonly DialectMessage[] {
    return this.#settled(side, this.#machines[side].receive(message)).toUs;
  }

  /** What a side answers by itself, after a message of the peer. */
  answered(side: Side, message: DialectMessage): readonly DialectMessage[] {
    return this.#settled(side, this.#machines[side].receive(message)).toPeer;
  }

  /** What a side sends in the dialect for a message of version 1. */
  sent(side: Side, message: DialectMessage): readonly DialectMessage[] {
    return this.#settled(side, this.#machines[side].send(message)).toPeer;
  }

  /** One side says something in version 1, and the other side's machine hears it. The machines may go on by themselves. */
  say(side: Side, message: DialectMessage): void {
    this.#pass(side, this.#machines[side].send(message));
  }

  #pass(side: Side, step: DialectStep): void {
    const { toUs, toPeer } = this.#settled(side, step);
    this.heard[side].push(...toUs);
    const other = otherSide[side];
    for (const message of toPeer) {
      this.wire.push(message);
      this.#pass(other, this.#machines[other].receive(message));
    }
  }

  /** A request of one side, which the other side answers. */
  ask(side: Side, method: string, params: object, result: object): void {
    const id = ++this.#ids;
    this.say(side, { jsonrpc: "2.0", id, method, params });
    this.say(otherSide[side], { jsonrpc: "2.0", id, result });
  }

  /** Answers what the machine asks our side by itself. */
  #settled(side: Side, step: DialectStep): DialectStep {
    let { toPeer } = step;
    const toUs: DialectMessage[] = [];
    for (const message of step.toUs) {
      const result = message.method === undefined ? undefined : this.#answers[message.method];
      const isItsOwn = typeof message.id === "string" && message.id.startsWith("parley:");
      if (!isItsOwn || result === undefined) toUs.push(message);
      else {
        const next = this.#settled(
          side,
          this.#machines[side].send({ jsonrpc: "2.0", id: message.id ?? null, result }),
        );
        toUs.push(...next.toUs);
        toPeer = [...toPeer, ...next.toPeer];
      }
    }
    return { toUs, toPeer };
  }
}

/** Those of Parley's own agent. */
const modes = ["ask", "code", "architect", "chat"];

export const introduction = {
  protocolVersion: 1,
  clientInfo: { name: "Editor", version: "1.0" },
  clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
};

export const welcome = {
  protocolVersion: 1,
  agentInfo: { name: "Agent", version: "1.0" },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, audio: true, embeddedContext: true },
    mcpCapabilities: { http: true, sse: true },
    sessionCapabilities: { systemPrompt: {} },
  },
  authMethods: [],
  _meta: {
    "_parley.dev/sessionOptions": [
      {
        id: "mode",
        name: "Mode",
        category: "mode",
        type: "select",
        currentValue: "ask",
        options: modes.map((value) => ({ value, name: value })),
      },
    ],
  },
};

/** The request that an answer belongs to, in version 1. */
function requestFor({ method }: Example, sessionId: string, terminalId: string): Json {
  const terminal = { sessionId, terminalId };
  const kinds = ["allow_once", "allow_always", "reject_once"];
  const named = kinds.map((kind) => ({ optionId: kind, name: kind, kind }));
  const words = [
    { optionId: "allow", name: "Allow", kind: "allow_once" },
    { optionId: "session", name: "Allow in this session", kind: "allow_always" },
  ];
  const path = "/home/user/my-project/src/auth.ts";
  const params: Record<string, Json> = {
    initialize: introduction,
    authenticate: { methodId: "api_key" },
    "session/new": { cwd: "/home/user/project", mcpServers: [] },
    "session/prompt": { sessionId, prompt: [{ type: "text", text: "Hello" }] },
    "session/request_permission": {
      sessionId,
      toolCall: { toolCallId: "tc_002", title: "Write a file", kind: "edit", locations: [{ path }] },
      options: [...named, ...words],
    },
    "fs/read_text_file": { sessionId, path },
    "fs/write_text_file": { sessionId, path, content: "text" },
    "terminal/create": { sessionId, command: "npm" },
    "terminal/output": terminal,
    "terminal/wait_for_exit": terminal,
  };
  return params[method] ?? {};
}

/** A pair whose conversation has come to where the example fits. */
export function pairFor(dialect: DialectMachines, example: Example): DialectPair {
  const { method, kind, from, message, answers } = example;
  const pair = new DialectPair(dialect, answers);
  const fields = { ...(message.params as Json), ...(message.result as Json) };
  const { sessionId = "sess_abc123", terminalId = "term_abc123" } = fields as Record<string, string>;
  const isFirst = method === "initialize";
  if (!isFirst) pair.ask("client", "initialize", introduction, welcome);
  if (!isFirst && !/^(?:authenticate|session\/(?:new|load)|_.*)$/.test(method))
    pair.ask("client", "session/new", { cwd: "/home/user/project", mcpServers: [] }, { sessionId });
  const prompt = { sessionId, prompt: [{ type: "text", text: "go" }] };
  // what an agent asks and says belongs to a turn
  if (/^(?:fs|terminal)\/|^session\/(?:update|request_permission|cancel)$/.test(method))
    pair.say("client", { jsonrpc: "2.0", id: 9100, method: "session/prompt", params: prompt });
  if (/^terminal\/(?!create)/.test(method))
    pair.ask("agent", "terminal/create", { sessionId, command: "npm" }, { terminalId });
  if (kind === "answer")
    pair.say(otherSide[from], {
      jsonrpc: "2.0",
      id: message.id as number,
      method,
      params: requestFor(example, sessionId, terminalId),
    });
  return pair;
}
