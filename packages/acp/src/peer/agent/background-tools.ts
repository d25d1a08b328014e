// The tool calls of a session that run beside its conversation.

import type { BackgroundWork } from "../../model/content.ts";
import { type SessionUpdates, sentAtOnce } from "./session/session-updates.ts";
import { Questions } from "./turn/questions.ts";
import { RunningToolCall, type ToolHost } from "./turn/running-tool-call.ts";
import type { RunTool, ToolCallStart } from "./turn/tool-call.ts";

export type BackgroundTools = ReturnType<typeof backgroundTools>;

export function backgroundTools(updates: SessionUpdates, checkOpen: (method: string) => void) {
  const all = new Set<Promise<unknown>>();
  /** Aborts when the session is closed. */
  const closing = new AbortController();
  const { signal } = closing;

  function run<Result>(start: ToolCallStart, cwd: string, work: RunTool<Result>): Promise<Result> {
    const host: ToolHost = {
      updates,
      questions: new Questions(updates, signal, { isForeground: false }),
      signal,
      cwd,
      checkOpen,
      send: (update) => updates.update(update) ?? sentAtOnce,
    };
    const tool = new RunningToolCall(host, { cancellable: true, ...start });
    const { toolCallId } = tool;
    updates.setBackground([...updates.work.runningBackground, { type: "tool_call", toolCallId }]);
    const running = tool.run(work).finally(() => {
      all.delete(running);
      const isOther = (item: BackgroundWork) => item.type !== "tool_call" || item.toolCallId !== toolCallId;
      if (!updates.isClosed) updates.setBackground(updates.work.runningBackground.filter(isOther));
    });
    all.add(running);
    running.catch(() => undefined);
    return running;
  }

  return {
    running: all,
    run,
    /** Ends them. */
    close: () => closing.abort(new DOMException("the session was closed", "AbortError")),
  };
}
