// Recognises plain requests with an ordered list of patterns; the first match wins, so specific ones come first.

import { mask, steps } from "./request-text.ts";

export type Intent =
  | { readonly type: "look"; readonly path: string }
  | { readonly type: "read"; readonly path: string; readonly from?: number; readonly to?: number }
  | { readonly type: "explain"; readonly path: string; readonly from?: number; readonly to?: number }
  | { readonly type: "search"; readonly pattern: string; readonly path: string }
  | { readonly type: "find"; readonly pattern: string }
  | { readonly type: "create"; readonly path: string; readonly content: string }
  | { readonly type: "append"; readonly path: string; readonly text: string }
  | { readonly type: "replace"; readonly path: string; readonly oldText: string; readonly newText: string }
  | { readonly type: "delete"; readonly path: string }
  | { readonly type: "move"; readonly from: string; readonly to: string }
  | { readonly type: "run"; readonly command: string }
  | { readonly type: "test"; readonly which: string }
  | { readonly type: "fetch"; readonly url: string }
  | { readonly type: "greet" }
  | { readonly type: "stop" }
  | { readonly type: "unknown" };

export interface Task {
  /** In the user's words. */
  readonly words: string;
  readonly intent: Intent;
}

/** The tasks of a request, in order. */
export function tasksOf(request: string): Task[] {
  // clients write a mention of a file with blanks as @"a b"
  const masked = mask(request.replaceAll(/(?<!\S)@(?=["'])/g, ""));
  return steps(masked.text).map((step) => ({
    words: oneLine(masked.restore(step)),
    intent: intentOf(step, masked.restore),
  }));
}

function oneLine(text: string): string {
  const [first = "", ...more] = text.split("\n");
  return more.length === 0 ? first : `${first} …`;
}

type Restore = (piece: string) => string;
type Rule = readonly [pattern: string, meaning: (get: (name: string) => string) => Intent | undefined];

/** A quoted name, or a word with a dot or slash, or a well-known file or folder name. */
const path = String.raw`(?:\uE000\d+\uE001|[^\s,;:]*[./](?:[^\s,;]*[^\s,;:])?|[A-Z][A-Za-z]*file|LICENSE|README|src|test|tests|docs|lib|bin)`;
const the = String.raw`(?:the\s+|a\s+|my\s+|this\s+)?(?:new\s+)?(?:file\s+|folder\s+|directory\s+)?(?:called\s+|named\s+)?`;

const rules: readonly Rule[] = [
  [`^(?:stop|never ?mind|cancel|forget it)$`, () => ({ type: "stop" })],
  [
    `^(?:hi|hello|hey|help|good (?:morning|evening)|what can you do|who are you)\\b.*$`,
    () => ({ type: "greet" }),
  ],
  [
    `^(?:fetch|download|get|open|read|load|show)\\s+(?<url>https?://\\S+)`,
    (get) => ({ type: "fetch", url: get("url") }),
  ],
  [
    `^(?:replace|change|substitute)\\s+(?<old>.+?)\\s+(?:with|by|to|into)\\s+(?<new>.+?)\\s+in\\s+${the}(?<path>\\S+)$`,
    (get) => ({ type: "replace", path: get("path"), oldText: get("old"), newText: get("new") }),
  ],
  [
    `^in\\s+${the}(?<path>\\S+?),?\\s+(?:replace|change|substitute)\\s+(?<old>.+?)\\s+(?:with|by|to|into)\\s+(?<new>.+)$`,
    (get) => ({ type: "replace", path: get("path"), oldText: get("old"), newText: get("new") }),
  ],
  [
    `^(?:append|add)\\s+(?<text>.+?)\\s+to\\s+(?:the\\s+end\\s+of\\s+)?${the}(?<path>${path})$`,
    (get) => ({ type: "append", path: get("path"), text: get("text") }),
  ],
  [
    `^(?:write|put|save)\\s+(?<text>.+?)\\s+(?:to|into|in)\\s+${the}(?<path>${path})$`,
    (get) => ({ type: "create", path: get("path"), content: get("text") }),
  ],
  [
    `^(?:create|make|write|add)\\s+${the}(?<path>${path})(?:\\s*:|\\s+(?:with|containing|that\\s+says|saying)` +
      `(?:\\s+(?:the\\s+)?(?:contents?|text|lines?))?:?)?\\s*(?<text>.*)$`,
    (get) => ({ type: "create", path: get("path"), content: get("text") }),
  ],
  [`^(?:delete|remove|rm)\\s+${the}(?<path>\\S+)$`, (get) => ({ type: "delete", path: get("path") })],
  [
    `^(?:move|rename|mv)\\s+${the}(?<from>\\S+)\\s+(?:to|as|into)\\s+${the}(?<to>\\S+)$`,
    (get) => ({ type: "move", from: get("from"), to: get("to") }),
  ],
  [
    `^(?:run\\s+)?(?:all\\s+)?(?:the\\s+)?(?:project'?s\\s+)?tests?(?:\\s+(?:it|this|the\\s+project|again|and\\s+explain\\s+what\\s+fails))?[.\\s]*(?<which>.*)$`,
    (get) => ({ type: "test", which: get("which") }),
  ],
  [
    `^(?:run|execute|exec|\\$|!)\\s*(?:the\\s+(?:command|script)[:\\s]+)?(?<command>.+)$`,
    (get) => ({ type: "run", command: get("command") }),
  ],
  [
    `^(?:find|list|show|search\\s+for)\\s+(?:me\\s+)?(?:all\\s+)?(?:the\\s+)?files?\\s+(?:called|named|matching|like|that\\s+match)\\s+(?<pattern>.+)$`,
    (get) => ({ type: "find", pattern: get("pattern") }),
  ],
  [
    `^(?:find|list|show)\\s+(?:me\\s+)?(?:all\\s+)?(?:the\\s+)?(?<pattern>[^\\s]*[*?][^\\s]*)(?:\\s+files)?$`,
    (get) => ({ type: "find", pattern: get("pattern") }),
  ],
  [
    `^(?:look\\s+around|ls|list|explore|overview)(?:\\s+(?:the\\s+)?(?:files|folder|project|directory))?(?:\\s+(?:of|in|at)?\\s*${the}(?<path>${path}))?(?:\\s+(?:here|in\\s+(?:this|the)\\s+\\w+))?$`,
    (get) => ({ type: "look", path: get("path") || "." }),
  ],
  [
    `^(?:what(?:'s|\\s+is)\\s+(?:here|in\\s+(?:here|(?:this|the)\\s+(?:folder|project|repo|repository|directory)))|` +
      `(?:show|explain|describe|summari[sz]e)\\s+(?:me\\s+)?(?:this|the)\\s+(?:files|project|folder|repo|repository|directory|codebase)|` +
      `what\\s+(?:is|does)\\s+this\\s+(?:project|repo|repository|codebase)(?:\\s+do)?|tell\\s+me\\s+about\\s+(?:this|the)\\s+project)$`,
    () => ({ type: "look", path: "." }),
  ],
  [
    `^(?:explain|describe|summari[sz]e|outline|what\\s+does|what(?:'s|\\s+is)\\s+in)\\s+(?:what\\s+is\\s+in\\s+)?${the}(?<path>${path})(?:\\s+do(?:es)?)?$`,
    (get) => ({ ...linesOf(get("path"), "", ""), type: "explain" }),
  ],
  [
    `^(?:read|show|open|cat|print|display|view)\\s+(?:me\\s+)?${the}(?<path>${path})(?:\\s*,?\\s*(?:from\\s+)?lines?\\s+(?<from>\\d+)(?:\\s*(?:-|–|to)\\s*(?<to>\\d+))?)?$`,
    (get) => ({ ...linesOf(get("path"), get("from"), get("to")), type: "read" }),
  ],
  [
    `^(?:search|grep|look|find|where\\s+(?:is|are))\\s+(?:for\\s+)?(?:all\\s+)?(?:the\\s+)?(?:uses?\\s+of\\s+|references\\s+to\\s+|occurrences\\s+of\\s+|text\\s+|word\\s+)?(?<pattern>.+?)(?:\\s+(?:used|defined|declared|mentioned))?(?:\\s+(?:in|below|under)\\s+${the}(?<path>${path}|(?:this|the)\\s+\\w+))?$`,
    (get) => {
      const where = get("path");
      return {
        type: "search",
        pattern: get("pattern"),
        path: /\s/.test(where) || where === "" ? "." : where,
      };
    },
  ],
];

const patterns = rules.map(([source, meaning]) => [new RegExp(source, "is"), meaning] as const);

function intentOf(step: string, restore: Restore): Intent {
  for (const [pattern, meaning] of patterns) {
    const found = pattern.exec(step);
    if (found === null) continue;
    // clients mark mentioned files with @
    const intent = meaning((name) => {
      const text = restore(found.groups?.[name] ?? "");
      return name === "path" ? text.replace(/^@(?=.)/, "") : text;
    });
    if (intent !== undefined) return intent;
  }
  return { type: "unknown" };
}

/** Also accepts line numbers in the path: `a.ts:10-20`. */
function linesOf(path: string, from: string, to: string): Omit<Extract<Intent, { type: "read" }>, "type"> {
  const [, file = path, first = from, last = to] = /^(.+?):(\d+)(?:-(\d+))?$/.exec(path) ?? [];
  return {
    path: file,
    ...(first !== "" && { from: Number(first) }),
    ...(last !== "" && { to: Number(last) }),
  };
}
