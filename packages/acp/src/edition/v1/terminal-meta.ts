// Reads the display terminals that version 1 agents describe in the `_meta` of tool calls.

import { toBase64 } from "../../base/base64.ts";
import { isObject, optional } from "../../base/objects.ts";
import type { SessionUpdate } from "../../model/update.ts";
import { isAbsolutePath } from "../../validation/failure.ts";
import type * as wire from "../../wire/v1/types.gen.ts";

type Event = Readonly<Record<string, unknown>>;

const keys = ["terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit"] as const;
const utf8 = new TextEncoder();

export class TerminalMeta {
  /** The terminals that a call shows, and the first of each call. */
  readonly #shown = new Set<string>();
  readonly #ofCall = new Map<string, string>();

  /** Takes the terminal events out of a tool call's `_meta`, and gives them as updates of terminals. */
  take(tool: wire.ToolCallUpdate): readonly SessionUpdate[] {
    for (const item of tool.content ?? []) if (item.type === "terminal") this.#show(tool, item.terminalId);
    const meta = tool._meta;
    if (meta == null || !keys.some((key) => isObject(meta[key]))) return [];
    const updates = [
      ...this.#event(tool, meta["terminal_info"], ({ command, cwd }) => ({
        sessionUpdate: "terminal_update" as const,
        ...optional({ command: textOf(command), cwd: pathOf(cwd) }),
      })),
      // text to append, under either key
      ...this.#event(tool, meta["terminal_output_delta"] ?? meta["terminal_output"], ({ data }) =>
        typeof data === "string" && data !== ""
          ? { sessionUpdate: "terminal_output_chunk" as const, data: toBase64(utf8.encode(data)) }
          : undefined,
      ),
      ...this.#event(tool, meta["terminal_exit"], ({ exit_code: exitCode, signal }) => ({
        sessionUpdate: "terminal_update" as const,
        exitStatus: optional({
          exitCode: Number.isInteger(exitCode) ? exitCode : undefined,
          signal: textOf(signal),
        }),
      })),
    ];
    const rest = Object.entries(meta).filter(([key]) => !keys.some((known) => known === key));
    if (rest.length === 0) delete tool._meta;
    else tool._meta = Object.fromEntries(rest);
    return updates;
  }

  /** One event of a terminal: the one it names, the one the call shows, or a new one of the call. */
  #event(
    tool: wire.ToolCallUpdate,
    event: unknown,
    update: (event: Event) => object | undefined,
  ): readonly SessionUpdate[] {
    if (!isObject(event)) return [];
    const { toolCallId } = tool;
    const terminalId = textOf(event["terminal_id"]) ?? this.#ofCall.get(toolCallId) ?? toolCallId;
    const shown: SessionUpdate[] = this.#shown.has(terminalId)
      ? []
      : [
          {
            sessionUpdate: "tool_call_content_chunk",
            toolCallId,
            content: { type: "terminal", terminalId },
          },
        ];
    this.#show(tool, terminalId);
    const told = update(event);
    return told === undefined ? shown : [...shown, { ...told, terminalId } as SessionUpdate]; // made above
  }

  #show({ toolCallId }: wire.ToolCallUpdate, terminalId: string): void {
    this.#shown.add(terminalId);
    if (!this.#ofCall.has(toolCallId)) this.#ofCall.set(toolCallId, terminalId);
  }
}

function pathOf(value: unknown): string | undefined {
  const path = textOf(value);
  return path !== undefined && isAbsolutePath(path) ? path : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
