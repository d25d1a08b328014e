// Applies terminals to a view.

import { fromBase64 } from "../base/base64.ts";
import { ByteTail } from "../base/byte-tail.ts";
import type { UpdateOf } from "../model/update.ts";
import type { OutputBytes } from "./session-view.ts";
import { patchedMeta, patchFields, type TerminalState, touch, type ViewState } from "./view-state.ts";

const none = new Uint8Array(0);
const lineFeed = 10;

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
  state.fold.kept?.added(item);
  touch(state, item);
  return item;
}

export function upsertTerminal(state: ViewState, update: UpdateOf<"terminal_update">): void {
  const item = terminal(state, update.terminalId);
  patchFields(item, update, ["command", "cwd", "exitStatus", "size", "capabilities"]);
  item._meta = patchedMeta(item._meta, update._meta);
  if (update.output === null) replaceOutput(state, item, none);
  else if (update.output !== undefined) {
    const bytes = fromBase64(update.output.data);
    if (bytes === undefined) item.output.undecodable += 1;
    else replaceOutput(state, item, bytes);
  }
  touch(state, item);
}

export function appendToTerminal(state: ViewState, terminalId: string, data: string): void {
  const item = terminal(state, terminalId);
  const bytes = fromBase64(data);
  if (bytes === undefined) item.output.undecodable += 1;
  else {
    const before = heldBy(item);
    item.output.push(bytes);
    state.fold.kept?.grew(item, heldBy(item) - before);
  }
  touch(state, item);
}

function replaceOutput(state: ViewState, item: TerminalState, bytes: Uint8Array): void {
  const before = heldBy(item);
  item.output.replace(bytes);
  state.fold.kept?.grew(item, heldBy(item) - before);
}

function heldBy({ output }: TerminalState): number {
  return output.received - output.dropped;
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
