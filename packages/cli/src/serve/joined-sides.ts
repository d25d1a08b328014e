// Passes messages between an editor and a remote agent, until one of them ends.

import type { Transport } from "@parley/acp";
import { takeoverKey } from "@parley/acp/extensions";
import { Call, methodTable, Peer, type Port, type Taker } from "@parley/acp/internal";
import { isObject, optional } from "@parley/acp/jsonrpc";
import type { EndReason } from "@parley/acp/transport";

export interface Ended {
  readonly who: "editor" | "agent";
  readonly reason: EndReason;
  /** Answers the requests of the editor that have no answer, with this error. */
  refuse(error: object): void;
  /** Why a turn that runs is left. Undefined if none runs. */
  readonly leaves?: string;
}

const promptMethod = "session/prompt";
/** How long an editor that has ended its output waits for answers. */
const answerMs = 5_000;
/** How long it waits for the end of a turn. */
export const turnMinutes = 10;

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
  const ofEditor = new Peer(editor, { name: "the editor", batches: "reject", lingers: true });
  const ofAgent = new Peer(agent, { name: "the agent", noise: "skip", batches: "accept" });
  /** Requests of the editor that have no answer. */
  const open = new Map<Taker, Call>();
  const turns = new OpenTurns();
  /** How many questions of the agent are open. */
  let asked = 0;
  const hasTurn = () => turns.isAny || [...open.values()].some(({ method }) => method === promptMethod);
  const told = (call: Call): Call => {
    const kept = dropCommands === undefined ? call.params : withoutCommands(call.params, dropCommands);
    const params = takesOver ? withTakeover(call.method, kept) : kept;
    return params === call.params ? call : new Call(call.method, params);
  };
  return new Promise((resolve) => {
    let left: EndReason | undefined;
    const waiting = new AbortController();
    const over = (who: Ended["who"], reason: EndReason, why?: string) => {
      waiting.abort();
      const refuse = (error: object): void => {
        for (const taker of open.keys()) taker({ error });
      };
      resolve({ who, reason, refuse, ...optional({ leaves: hasTurn() ? why : undefined }) });
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
      if (asked > 0) over("editor", left, "the agent asks something, and stdin has ended");
    };
    ofAgent.intake = {
      notify(call) {
        turns.noticed(call);
        const room = ofEditor.port.notify(call);
        checkLeft();
        return room;
      },
      request(call, taker) {
        asked += 1;
        checkLeft();
        return ofEditor.port.request(call, (answer, text) => {
          // a question that nobody has answered stays open at the server, for the next client
          if (!ofEditor.connection.isOpen) return;
          asked -= 1;
          taker(answer, text);
        });
      },
      unread: () => undefined,
    };
    ofEditor.intake = {
      notify: (call) => ofAgent.port.notify(told(call)),
      request(call, taker) {
        open.set(taker, call);
        const sessionId = sessionOf(call.params);
        if (call.method === promptMethod) turns.asked(sessionId);
        return ofAgent.port.request(told(call), (answer, text) => {
          // the editor is told why by whoever knows
          if (!ofAgent.connection.isOpen) return;
          open.delete(taker);
          if (call.method === promptMethod) turns.answered(sessionId, answer.result);
          taker(answer, text);
          checkLeft();
        });
      },
      unread: () => undefined,
    };
    // the editor is told by the answer to its first request
    const firstAsked = whenAsked(ofEditor);
    void ofAgent.ended.then(async (reason) => {
      await firstAsked;
      over("agent", reason);
    });
    void ofEditor.ended.then((reason) => {
      if (!ofAgent.connection.isOpen) return over("agent", reason);
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
    });
  });
}

/** Resolves when the editor has sent a call. */
function whenAsked(editor: Peer): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { intake } = editor;
  const noting: Port = {
    ...intake,
    notify(call) {
      resolve();
      return intake.notify(call);
    },
    request(call, taker) {
      // its taker is known before anything is said
      const cancel = intake.request(call, taker);
      resolve();
      return cancel;
    },
  };
  editor.intake = noting;
  return promise;
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

  noticed({ params }: Call): void {
    const update = isObject(params) ? params["update"] : undefined;
    if (!isObject(update) || update["sessionUpdate"] !== "state_update" || update["state"] !== "idle") return;
    this.#idle.add(sessionOf(params));
    this.#running.delete(sessionOf(params));
  }
}

function sessionOf(params: unknown): unknown {
  return isObject(params) ? params["sessionId"] : undefined;
}

function withoutCommands(params: unknown, dropped: (names: readonly string[]) => void): unknown {
  const servers = isObject(params) ? params["mcpServers"] : undefined;
  if (!isObject(params) || !Array.isArray(servers)) return params;
  const isCommand = (server: unknown) => isObject(server) && server["command"] !== undefined;
  const names = servers.filter(isCommand).map((server: { readonly name?: unknown }) => String(server.name));
  if (names.length === 0) return params;
  dropped(names);
  return { ...params, mcpServers: servers.filter((server) => !isCommand(server)) };
}

function withTakeover(method: string, params: unknown): unknown {
  if (methodTable.get(method)?.session !== "attaches" || !isObject(params)) return params;
  const meta = isObject(params["_meta"]) ? params["_meta"] : {};
  return { ...params, _meta: { ...meta, [takeoverKey]: true } };
}
