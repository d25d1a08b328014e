// `parley connect URL`: a remote agent as a local one, on stdin and stdout.

import type { Transport } from "@parley/acp";
import { exactIdIn, idKey, idToJson, isObject } from "@parley/acp/internal";
import { nodePlatform, stdioChannel } from "@parley/acp/internal/node";
import { byteTransport, type EndReason } from "@parley/acp/transport";
import { type AgentEntry, agentEntry, reachAgent } from "@parley/client/internal";
import { launchFailure } from "../agents/with-agent.ts";
import { CommandError, type Invocation, usageError } from "../command/command.ts";
import { addressEntry } from "../settings/remote-address.ts";

/** How long what was sent may take to leave, when stdin has ended. */
const leaveMs = 5_000;
const parseError = -32700;
const unavailable = -32067;

export async function run({ values, words }: Invocation): Promise<number> {
  const [url, ...more] = words;
  if (url === undefined || more.length > 0)
    throw usageError("expected one address: parley connect URL", "see parley help connect");
  const entry = agentEntry(addressEntry(url, values));
  const reached = await reachAgent(entry, {}).catch((error: unknown) => {
    throw launchFailure(error);
  });
  const editor = byteTransport(stdioChannel({ exitOnEnd: false }), { platform: nodePlatform });
  const ended = await joined(editor, reached.transport);
  if (ended.who === "editor") {
    const late = new Promise<void>((resolve) => setTimeout(resolve, leaveMs));
    await Promise.race([reached.sent?.(), late]);
    // without a goodbye: the agent goes on, and its sessions can be loaded
    process.exit(0);
  }
  const failed = await failure(entry, ended.reason, reached.explain);
  // an editor shows what it asked for and did not get; few show stderr
  for (const id of ended.open) {
    const error = { code: unavailable, message: `${failed.message}; ${failed.hint}` };
    editor.send({ jsonrpc: "2.0", id, error: { ...error, data: { reason: "unreachable" } } });
  }
  await editor.close();
  throw failed;
}

interface Ended {
  readonly who: "editor" | "agent";
  readonly reason: EndReason;
  /** The ids of the editor's requests that have no answer. */
  readonly open: readonly unknown[];
}

/** Passes messages on until one side ends. */
function joined(editor: Transport, agent: Transport): Promise<Ended> {
  const open = new Map<string, unknown>();
  const note = (from: Transport, value: object, text: string) => {
    if (!isObject(value) || value["id"] === undefined) return;
    const { id, method } = value;
    if (from === editor && method !== undefined) open.set(idKey(id), idToJson(exactIdIn(text, id)));
    else if (from === agent && method === undefined) open.delete(idKey(id));
  };
  return new Promise((resolve) => {
    let failed: EndReason | undefined;
    let hasAsked = false;
    const over = (who: Ended["who"], reason: EndReason) => resolve({ who, reason, open: [...open.values()] });
    const pass = (from: Transport, to: Transport, end: (reason: EndReason) => void) =>
      from.start({
        message(value, text) {
          // a number or a text is no message, and an object is one for the other side to judge
          if (typeof value !== "object" || value === null) return refuse(from);
          note(from, value, text);
          if (from === editor) hasAsked = true;
          if (failed !== undefined) over("agent", failed);
          else if (!to.send(value, text)) from.pause();
        },
        idle: () => undefined,
        reject: () => refuse(from),
        drain: () => to.resume(),
        end,
      });
    const refuse = (from: Transport) => {
      if (from !== editor) return;
      const error = { code: parseError, message: "expected one JSON-RPC message per line" };
      editor.send({ jsonrpc: "2.0", id: null, error });
    };
    pass(agent, editor, (reason) => {
      // the editor is told by the answer to its first request
      if (hasAsked) over("agent", reason);
      else failed = reason;
    });
    pass(editor, agent, (reason) => {
      if (failed === undefined) over("editor", reason);
      else over("agent", failed);
    });
  });
}

async function failure(
  { name }: AgentEntry,
  reason: EndReason,
  explain: ((error: unknown) => Promise<{ message?: string; hint: string }>) | undefined,
): Promise<CommandError> {
  const { message = "the connection has ended" } = reason;
  const explained = await explain?.(reason);
  const isRefused = /\b401\b/.test(explained?.message ?? message);
  const hint = isRefused
    ? "check the token: that of PARLEY_TOKEN or --token-file"
    : (explained?.hint ?? "start it again; the sessions of the agent can be loaded");
  return new CommandError("unreachable", `${name}: ${explained?.message ?? message}`, hint, 5);
}
