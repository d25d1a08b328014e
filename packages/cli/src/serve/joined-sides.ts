// Passes messages between an editor and a remote agent, until one of them ends.

import type { Transport } from "@parley/acp";
import { exactIdIn, idKey, idToJson, isObject } from "@parley/acp/internal";
import type { EndReason } from "@parley/acp/transport";

export interface Ended {
  readonly who: "editor" | "agent";
  readonly reason: EndReason;
  /** The ids of the editor's requests that have no answer. */
  readonly open: readonly unknown[];
}

const parseError = -32700;
const invalidRequest = -32600;
const takeoverKey = "_parley.dev/takeover";
/** How long an editor that has ended its output waits for answers. */
const answerMs = 5_000;

interface Open {
  readonly id: unknown;
  /** A turn goes on without the editor. */
  readonly isTurn: boolean;
}

export interface JoinOptions {
  /** Sessions that other clients have are taken from them. */
  readonly takesOver?: boolean;
  /** Leaves out MCP servers that are commands of the editor's machine, and is told their names. */
  readonly dropCommands?: ((names: readonly string[]) => void) | undefined;
}

/** Resolves when one side has ended. */
export function joined(
  editor: Transport,
  agent: Transport,
  { takesOver = false, dropCommands }: JoinOptions = {},
): Promise<Ended> {
  const open = new Map<string, Open>();
  const awaitsAnswers = () => [...open.values()].some(({ isTurn }) => !isTurn);
  const refuse = (code: number, message: string) =>
    void editor.send({ jsonrpc: "2.0", id: null, error: { code, message } });
  const refuseFrame = () => refuse(parseError, "expected one JSON-RPC message per line");
  return new Promise((resolve) => {
    let failed: EndReason | undefined;
    let left: EndReason | undefined;
    let hasAsked = false;
    const over = (who: Ended["who"], reason: EndReason) =>
      resolve({ who, reason, open: [...open.values()].map(({ id }) => id) });
    agent.start({
      message(value, text) {
        // it is one for the editor to judge
        if (typeof value !== "object" || value === null) return;
        if (isObject(value) && value["method"] === undefined) open.delete(idKey(value["id"]));
        if (!editor.send(value, text)) agent.pause();
        if (left !== undefined && !awaitsAnswers()) over("editor", left);
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
        const { id, method } = value;
        if (id !== undefined && method !== undefined) {
          const exact = idToJson(exactIdIn(text, id));
          open.set(idKey(id), { id: exact, isTurn: method === "session/prompt" });
        }
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
        if (reason.kind !== "eof" || !awaitsAnswers()) return over("editor", reason);
        left = reason;
        setTimeout(() => over("editor", reason), answerMs);
      },
    });
  });
}

type Message = Readonly<Record<string, unknown>>;

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
  if ((method !== "session/load" && method !== "session/resume") || !isObject(params)) return message;
  const meta = isObject(params["_meta"]) ? params["_meta"] : {};
  return { ...message, params: { ...params, _meta: { ...meta, [takeoverKey]: true } } };
}
