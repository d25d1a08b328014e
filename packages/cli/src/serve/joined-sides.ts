// Passes messages between an editor and a remote agent, until one of them ends.

import type { Transport } from "@parley/acp";
import { takeoverKey } from "@parley/acp/extensions";
import { exactIdIn, idKey, idToJson, methodTable } from "@parley/acp/internal";
import { isObject, optional } from "@parley/acp/jsonrpc";
import type { EndReason } from "@parley/acp/transport";

export interface Ended {
  readonly who: "editor" | "agent";
  readonly reason: EndReason;
  /** The ids of the editor's requests that have no answer. */
  readonly open: readonly unknown[];
  /** Why a turn that runs is left. Undefined if none runs. */
  readonly leaves?: string;
}

const parseError = -32700;
const invalidRequest = -32600;
const promptMethod = "session/prompt";
/** How long an editor that has ended its output waits for answers. */
const answerMs = 5_000;
/** How long it waits for the end of a turn. */
export const turnMinutes = 10;

interface Open {
  readonly id: unknown;
  readonly method: unknown;
  readonly sessionId: unknown;
}

export interface JoinOptions {
  /** Sessions that other clients have are taken from them. */
  readonly takesOver?: boolean;
  /** Leaves out MCP servers that are commands of the editor's machine, and is told their names. */
  readonly dropCommands?: ((names: readonly string[]) => void) | undefined;
  /** Resolves when the program that has started us has gone. It stops looking when the signal aborts. */
  readonly orphaned?: (signal: AbortSignal) => Promise<void>;
}

/** Resolves when one side has ended. */
export function joined(
  editor: Transport,
  agent: Transport,
  { takesOver = false, dropCommands, orphaned }: JoinOptions = {},
): Promise<Ended> {
  const open = new Map<string, Open>();
  const turns = new OpenTurns();
  /** Questions of the agent. */
  const asked = new Set<string>();
  const hasTurn = () => turns.isAny || [...open.values()].some(({ method }) => method === promptMethod);
  const refuse = (code: number, message: string) =>
    void editor.send({ jsonrpc: "2.0", id: null, error: { code, message } });
  const refuseFrame = () => refuse(parseError, "expected one JSON-RPC message per line");
  const note = (message: Message) => {
    const { id, method } = message;
    if (method === undefined) {
      const answered = open.get(idKey(id));
      open.delete(idKey(id));
      if (answered?.method === promptMethod) turns.answered(answered.sessionId, message["result"]);
    } else if (id === undefined) turns.noticed(message);
    else asked.add(idKey(id));
  };
  const noteSent = (message: Message, text: string) => {
    const { id, method } = message;
    if (method === undefined) asked.delete(idKey(id));
    if (method === undefined || id === undefined) return;
    const sessionId = sessionOf(message);
    open.set(idKey(id), { id: idToJson(exactIdIn(text, id)), method, sessionId });
    if (method === promptMethod) turns.asked(sessionId);
  };
  return new Promise((resolve) => {
    let failed: EndReason | undefined;
    let left: EndReason | undefined;
    let hasAsked = false;
    const waiting = new AbortController();
    const over = (who: Ended["who"], reason: EndReason, why?: string) => {
      waiting.abort();
      resolve({
        who,
        reason,
        open: [...open.values()].map(({ id }) => id),
        ...optional({ leaves: hasTurn() ? why : undefined }),
      });
    };
    /** A wait that does not outlive the sides. */
    const after = (ms: number, late: () => void) => {
      if (waiting.signal.aborted) return;
      const timer = setTimeout(late, ms);
      waiting.signal.addEventListener("abort", () => clearTimeout(timer));
    };
    /** Nothing more can be said to the agent, which may still have something to say. */
    const checkLeft = () => {
      if (left === undefined) return;
      if (open.size === 0 && !turns.isAny) return over("editor", left);
      if (asked.size > 0) over("editor", left, "the agent asks something, and stdin has ended");
    };
    agent.start({
      message(value, text) {
        // it is one for the editor to judge
        if (typeof value !== "object" || value === null) return;
        if (isObject(value)) note(value);
        if (!editor.send(value, text)) agent.pause();
        checkLeft();
      },
      idle: () => undefined,
      reject: () => undefined,
      drain: () => editor.resume(),
      end(reason) {
        // the editor is told by the answer to its first request
        if (hasAsked) over("agent", reason);
        else failed = reason;
      },
    });
    editor.start({
      message(value, text) {
        if (Array.isArray(value))
          return refuse(invalidRequest, "a batch is not taken; send one JSON-RPC message per line");
        if (!isObject(value)) return refuseFrame();
        noteSent(value, text);
        hasAsked = true;
        if (failed !== undefined) return over("agent", failed);
        const kept = dropCommands === undefined ? value : withoutCommands(value, dropCommands);
        const told = takesOver ? withTakeover(kept) : kept;
        const hasRoom = told === value ? agent.send(value, text) : agent.send(told);
        if (!hasRoom) editor.pause();
      },
      idle: () => undefined,
      reject: refuseFrame,
      drain: () => agent.resume(),
      end(reason) {
        if (failed !== undefined) return over("agent", failed);
        if (reason.kind !== "eof") return over("editor", reason);
        left = reason;
        checkLeft();
        after(answerMs, () => {
          if (!hasTurn()) over("editor", reason);
        });
        const late = `it runs for more than ${turnMinutes} minutes`;
        after(turnMinutes * 60_000, () => over("editor", reason, late));
        const exited = "the program that started this one has exited";
        void orphaned?.(waiting.signal).then(() => over("editor", reason, exited));
      },
    });
  });
}

/** Turns of v2, whose prompts are answered when they begin: they run until the agent says that it is idle. */
class OpenTurns {
  readonly #running = new Set<unknown>();
  /** Those whose agent is idle since their last prompt. */
  readonly #idle = new Set<unknown>();

  get isAny(): boolean {
    return this.#running.size > 0;
  }

  asked(sessionId: unknown): void {
    this.#idle.delete(sessionId);
  }

  answered(sessionId: unknown, result: unknown): void {
    // a turn of v1 is over with its answer, which has a reason
    if (isObject(result) && result["stopReason"] === undefined && !this.#idle.has(sessionId))
      this.#running.add(sessionId);
  }

  noticed(message: Message): void {
    const { params } = message;
    const update = isObject(params) ? params["update"] : undefined;
    if (!isObject(update) || update["sessionUpdate"] !== "state_update" || update["state"] !== "idle") return;
    this.#idle.add(sessionOf(message));
    this.#running.delete(sessionOf(message));
  }
}

type Message = Readonly<Record<string, unknown>>;

function sessionOf({ params }: Message): unknown {
  return isObject(params) ? params["sessionId"] : undefined;
}

function withoutCommands(message: Message, dropped: (names: readonly string[]) => void): Message {
  const { params } = message;
  const servers = isObject(params) ? params["mcpServers"] : undefined;
  if (!isObject(params) || !Array.isArray(servers)) return message;
  const isCommand = (server: unknown) => isObject(server) && server["command"] !== undefined;
  const names = servers.filter(isCommand).map((server: Message) => String(server["name"]));
  if (names.length === 0) return message;
  dropped(names);
  const mcpServers = servers.filter((server) => !isCommand(server));
  return { ...message, params: { ...params, mcpServers } };
}

function withTakeover(message: Message): Message {
  const { method, params } = message;
  if (methodTable.get(method)?.session !== "attaches" || !isObject(params)) return message;
  const meta = isObject(params["_meta"]) ? params["_meta"] : {};
  return { ...message, params: { ...params, _meta: { ...meta, [takeoverKey]: true } } };
}
