// The tool calls of a session that run beside its conversation.

import type { BackgroundWork } from "../../model/content.ts";
import { type SessionUpdates, sentAtOnce } from "./session/session-updates.ts";
import { Questions } from "./turn/questions.ts";
import { RunningToolCall, type ToolHost } from "./turn/running-tool-call.ts";
import type { RunTool, ToolCallStart } from "./turn/tool-call.ts";

export class BackgroundTools {
  readonly #updates: SessionUpdates;
  readonly #checkOpen: (method: string) => void;
  /** Aborts when the session is closed. */
  readonly #closing = new AbortController();
  readonly running = new Set<Promise<unknown>>();

  constructor(updates: SessionUpdates, checkOpen: (method: string) => void) {
    this.#updates = updates;
    this.#checkOpen = checkOpen;
  }

  run<Result>(start: ToolCallStart, cwd: string, run: RunTool<Result>): Promise<Result> {
    const updates = this.#updates;
    const { signal } = this.#closing;
    const host: ToolHost = {
      updates,
      questions: new Questions(updates, signal, { isForeground: false }),
      signal,
      cwd,
      checkOpen: this.#checkOpen,
      send: (update) => updates.update(update) ?? sentAtOnce,
    };
    const tool = new RunningToolCall(host, { cancellable: true, ...start });
    const { toolCallId } = tool;
    updates.setBackground([...updates.work.runningBackground, { type: "tool_call", toolCallId }]);
    const running = tool.run(run).finally(() => {
      this.running.delete(running);
      const isOther = (item: BackgroundWork) => item.type !== "tool_call" || item.toolCallId !== toolCallId;
      if (!updates.isClosed) updates.setBackground(updates.work.runningBackground.filter(isOther));
    });
    this.running.add(running);
    running.catch(() => undefined);
    return running;
  }

  /** Ends them. */
  close(): void {
    this.#closing.abort(new DOMException("the session was closed", "AbortError"));
  }
}
