// Applies terminals to a view, including those that some version 1 agents describe in a tool call's `_meta`.

import { ByteTail } from "../base/byte-tail.ts";
import { isObject } from "../base/objects.ts";
import type { Meta } from "../model/content.ts";
import type { UpdateOf } from "../model/update.ts";
import type { OutputBytes, ToolCallItem } from "./session-view.ts";
import {
  type Mutable,
  patchedMeta,
  patchFields,
  type TerminalState,
  touch,
  type ViewState,
} from "./view-state.ts";

const none = new Uint8Array(0);
const lineFeed = 10;
const utf8 = new TextEncoder();

export function terminal(state: ViewState, terminalId: string): TerminalState {
  const known = state.terminals.get(terminalId);
  if (known !== undefined) return known;
  const item: TerminalState = {
    kind: "terminal",
    key: `terminal:${terminalId}`,
    version: state.seq,
    terminalId,
    command: undefined,
    cwd: undefined,
    output: new TerminalBytes(state.fold.terminalBytes),
    exitStatus: undefined,
    size: undefined,
    capabilities: undefined,
    _meta: undefined,
  };
  state.terminals.set(terminalId, item);
  touch(state, item);
  return item;
}

export function upsertTerminal(state: ViewState, update: UpdateOf<"terminal_update">): void {
  const item = terminal(state, update.terminalId);
  patchFields(item, update, ["command", "cwd", "exitStatus", "size", "capabilities"]);
  item._meta = patchedMeta(item._meta, update._meta);
  if (update.output === null) item.output.replace(none);
  else if (update.output !== undefined) {
    const bytes = bytesFromBase64(update.output.data);
    if (bytes === undefined) item.output.undecodable += 1;
    else item.output.replace(bytes);
  }
  touch(state, item);
}

export function appendToTerminal(state: ViewState, terminalId: string, data: string): void {
  const item = terminal(state, terminalId);
  const bytes = bytesFromBase64(data);
  if (bytes === undefined) item.output.undecodable += 1;
  else item.output.push(bytes);
  touch(state, item);
}

/** The metadata keys that are terminal events. */
const terminalKeys = ["terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit"] as const;

/**
 * Applies the terminal events in a tool call's metadata and returns the rest of it. Output is text to append,
 * under either key.
 */
export function takeTerminalMeta(
  state: ViewState,
  call: Mutable<ToolCallItem>,
  meta: Meta | null | undefined,
): Meta | null | undefined {
  if (meta === undefined || meta === null || !terminalKeys.some((key) => isObject(meta[key]))) return meta;
  const info = take(state, call, meta["terminal_info"]);
  if (info !== undefined) {
    info.item.cwd = textOr(info.event["cwd"], info.item.cwd);
    info.item.command = textOr(info.event["command"], info.item.command);
  }
  const output = take(state, call, meta["terminal_output_delta"] ?? meta["terminal_output"]);
  const data = output?.event["data"];
  if (typeof data === "string") output?.item.output.push(utf8.encode(data));
  const exit = take(state, call, meta["terminal_exit"]);
  if (exit !== undefined) {
    const { exit_code: exitCode, signal } = exit.event;
    exit.item.exitStatus = {
      ...(typeof exitCode === "number" && { exitCode }),
      ...(typeof signal === "string" && { signal }),
    };
  }
  const kept = Object.entries(meta).filter(([key]) => !terminalKeys.some((known) => known === key));
  return Object.fromEntries(kept);
}

/** The terminal of an event: the one it names, the one the call shows, or a new one of the call. */
function take(
  state: ViewState,
  call: Mutable<ToolCallItem>,
  event: unknown,
): { item: TerminalState; event: Readonly<Record<string, unknown>> } | undefined {
  if (!isObject(event)) return undefined;
  const [shown] = call.terminalIds;
  const terminalId = textOr(event["terminal_id"], shown) ?? call.toolCallId;
  call.terminalIds.add(terminalId);
  const item = terminal(state, terminalId);
  touch(state, item);
  return { item, event };
}

function textOr(value: unknown, otherwise: string | undefined): string | undefined {
  return typeof value === "string" ? value : otherwise;
}

export class TerminalBytes extends ByteTail implements OutputBytes {
  lines = 0;
  generation = 0;
  undecodable = 0;

  override push(chunk: Uint8Array): void {
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) this.lines += 1;
    super.push(chunk);
  }

  /** Replaces everything: a snapshot is never mixed with older bytes. */
  replace(bytes: Uint8Array): void {
    this.generation += 1;
    this.clear();
    this.lines = 0;
    this.push(bytes);
  }

  override text(): string {
    return super.text({ complete: false });
  }

  toJSON(): unknown {
    const { received, dropped, lines, generation, undecodable } = this;
    return { text: this.text(), received, dropped, lines, generation, undecodable };
  }
}

/** The bytes of one chunk; undefined if it is not base64. */
function bytesFromBase64(data: string): Uint8Array | undefined {
  let binary: string;
  try {
    binary = atob(data);
  } catch {
    return undefined;
  }
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
