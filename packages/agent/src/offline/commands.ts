// The commands of the offline model: how each is written, and what it does with the agent's tools.

import { optional } from "@parley/acp/jsonrpc";
import { type CallResult, call, type Script } from "./script.ts";

/** The end of a command, with the text for the user. */
export interface Done {
  readonly isError: boolean;
  readonly words: string;
}

/** An argument by its name; empty if it was left out. */
type Get = (name: string) => string;

export interface Command {
  readonly usage: string;
  /** Quoted texts are single words here. `command` is the rest of the step; `path` and `to` are paths. */
  readonly pattern: RegExp;
  /** Works in modes that allow no changes. */
  readonly isReadOnly?: true;
  perform(get: Get): Script<Done>;
}

export const commands: readonly Command[] = [
  {
    usage: "read FILE[:FROM[-TO]]",
    pattern: /^read\s+(?<path>\S+)$/i,
    isReadOnly: true,
    *perform(get) {
      const [, path = get("path"), from, to = from] = /^(.+?):(\d+)(?:-(\d+))?$/.exec(get("path")) ?? [];
      const offset = from === undefined ? undefined : Number(from);
      const limit = offset === undefined ? undefined : Math.max(1, Number(to) - offset + 1);
      return shown(`\`${get("path")}\``, yield* call("read", { path, ...optional({ offset, limit }) }));
    },
  },
  {
    usage: "list [FOLDER]",
    pattern: /^list(?:\s+(?<path>\S+))?$/i,
    isReadOnly: true,
    *perform(get) {
      const path = get("path") || ".";
      return shown(`In \`${path}\``, yield* call("list", { path }));
    },
  },
  {
    usage: "search TEXT [in FOLDER]",
    pattern: /^search\s+(?<text>\S+)(?:\s+in\s+(?<path>\S+))?$/i,
    isReadOnly: true,
    *perform(get) {
      const input = { pattern: get("text"), path: get("path") || ".", literal: true };
      return shown(`\`${input.pattern}\``, yield* call("grep", input));
    },
  },
  {
    usage: "create FILE with TEXT",
    pattern: /^create\s+(?<path>\S+)\s+with\s+(?<text>\S+)$/i,
    *perform(get) {
      const path = get("path");
      const input = { path, content: get("text").replace(/(?<=[^\n])$/, "\n") };
      let result = yield* call("write", input);
      // a file is replaced only after it was read
      if (result.isError && /already exists/.test(result.text)) {
        result = yield* call("read", { path });
        if (!result.isError) result = yield* call("write", input);
      }
      return done(`Wrote \`${path}\`.`, result);
    },
  },
  {
    usage: "replace A with B in FILE",
    pattern: /^replace\s+(?<old>\S+)\s+with\s+(?<new>\S+)\s+in\s+(?<path>\S+)$/i,
    *perform(get) {
      const [path, oldText, newText] = [get("path"), get("old"), get("new")];
      const seen = yield* call("read", { path });
      const edits = [{ oldText, newText, replaceAll: true }];
      const result = seen.isError ? seen : yield* call("edit", { path, edits });
      if (result.isError && /^oldText is not in /.test(result.text))
        return { isError: true, words: `There is no \`${oldText}\` in \`${path}\`: nothing was changed.` };
      return done(`Replaced \`${oldText}\` with \`${newText}\` in \`${path}\`.`, result);
    },
  },
  {
    usage: "delete FILE",
    pattern: /^delete\s+(?<path>\S+)$/i,
    *perform(get) {
      return done(`Deleted \`${get("path")}\`.`, yield* call("delete", { path: get("path") }));
    },
  },
  {
    usage: "move A to B",
    pattern: /^move\s+(?<path>\S+)\s+to\s+(?<to>\S+)$/i,
    *perform(get) {
      const [from, to] = [get("path"), get("to")];
      return done(`Moved \`${from}\` to \`${to}\`.`, yield* call("move", { from, to }));
    },
  },
  {
    usage: "run COMMAND",
    pattern: /^run\s+(?<command>.+)$/is,
    *perform(get) {
      const command = get("command").trim();
      const result = yield* call("bash", { command });
      if (result.isError || !hasExitedBadly(result.text)) return shown(`\`${command}\``, result);
      return { ...shown(`\`${command}\` failed`, result), isError: true };
    },
  },
  {
    usage: "fetch URL",
    pattern: /^fetch\s+(?<url>\S+)$/i,
    isReadOnly: true,
    *perform(get) {
      return shown(get("url"), yield* call("fetch", { url: get("url") }));
    },
  },
];

/** The tool reports the exit in its last lines, which stand in brackets. */
function hasExitedBadly(text: string): boolean {
  const notes = /(?:(?:^|\n)\[.*\])+$/.exec(text.trimEnd())?.[0] ?? "";
  return /^\[(?:exit code [1-9]|ended by |it ran for more than )/m.test(notes);
}

function done(words: string, { isError, text }: CallResult): Done {
  if (!isError) return { isError, words };
  return {
    isError,
    words: text.startsWith("The user rejected") ? "You said no, so I did not do it." : `That failed: ${text}`,
  };
}

const shownLines = 40;

/** Shows the beginning and, since commands fail there, the end. */
function shown(title: string, result: CallResult): Done {
  const lines = result.text.replace(/\n$/, "").split("\n");
  const left = lines.length - shownLines;
  if (left > 0) lines.splice(shownLines / 2, left, `… ${left} lines …`);
  const fence = result.text.includes("```") ? "````" : "```";
  return done([`${title}:`, fence, ...lines, fence].join("\n"), result);
}
