// Prints `--format json`: one object per line, each with `"v":1` and a type; the last has the type "end".

import type { Entry } from "@parley/acp";
import { optional } from "@parley/acp/internal";
import { applyEntry, createView } from "@parley/acp/view";
import { escapedJson } from "../terminal/sanitise.ts";
import { LastMessage } from "./last-message.ts";
import type { Output } from "./output.ts";
import type { RunPrinter } from "./run-printer.ts";

/** The end contains at most this much of the last message, which was printed before. */
const longestText = 4 * 1024 * 1024;

export function jsonPrinter(output: Output): RunPrinter {
  const last = new LastMessage(longestText);
  // only usage is folded, for the end
  const view = createView();
  const print = (type: string, fields: object) => output.write(`${escapedJson({ v: 1, type, ...fields })}\n`);
  let ids: { readonly session?: string; readonly sessionId?: string } = {};
  return {
    showsProgress: false,
    progress: () => undefined,
    pause: () => output.flush(),
    started({ session, sessionId, ...rest }) {
      ids = { ...optional({ session }), sessionId };
      print("start", { ...ids, ...rest });
    },
    entry(entry) {
      last.entry(entry);
      if (entry.kind === "update" && entry.update.sessionUpdate === "usage_update") applyEntry(view, entry);
      const fields = fieldsOf(entry);
      if (fields !== undefined) print(entry.kind, fields);
    },
    decision: (decision) => print("decision", decision),
    notice: (message) => print("notice", { message }),
    end({ exitCode, outcome, refused, error, durationMs }) {
      const { stopReason, usage } = outcome ?? {};
      print("end", {
        exitCode,
        ...optional({ stopReason }),
        ...ids,
        text: last.text,
        ...optional({
          textTruncated: last.isTruncated || undefined,
          usage,
          context: view.usage,
          cost: view.cost,
          refused: refused || undefined,
          error,
        }),
        durationMs: Math.round(durationMs),
      });
      output.flush();
    },
  };
}

/** The outcome is part of the end. */
function fieldsOf(entry: Entry): object | undefined {
  if (entry.kind === "outcome") return undefined;
  const { seq: _, kind: _kind, ...fields } = entry;
  return fields;
}
