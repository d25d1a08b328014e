// The marks in the left column and the icons of tools. Terminals without UTF-8 get them in ASCII.

import { hasUtf8 } from "../terminal/ascii-text.ts";

export interface Marks {
  readonly user: string;
  readonly thought: string;
  readonly completed: string;
  readonly failed: string;
  readonly cancelled: string;
  readonly running: string;
  readonly waiting: string;
  readonly question: string;
  readonly notice: string;
  readonly subagent: string;
  readonly message: string;
  readonly nested: string;
  readonly unknown: string;
  readonly more: string;
  readonly dot: string;
  readonly bar: string;
  readonly planDone: string;
  readonly planActive: string;
  readonly planOpen: string;
  readonly planCancelled: string;
  /** By the kind of the tool. */
  readonly tools: Readonly<Record<string, string>>;
}

export const unicodeMarks: Marks = {
  user: "›",
  thought: "∴",
  completed: "✓",
  failed: "✗",
  cancelled: "⊘",
  running: "◐",
  waiting: "○",
  question: "?",
  notice: "!",
  subagent: "◆",
  message: "✉",
  nested: "└",
  unknown: "·",
  more: "…",
  dot: "·",
  bar: "│",
  planDone: "☑",
  planActive: "◐",
  planOpen: "☐",
  planCancelled: "☒",
  tools: {
    read: "≡",
    edit: "✎",
    delete: "⌫",
    move: "→",
    search: "⌕",
    execute: "$",
    think: "∴",
    fetch: "↓",
    switch_mode: "⇆",
    other: "•",
  },
};

export const asciiMarks: Marks = {
  user: ">",
  thought: "~",
  completed: "+",
  failed: "x",
  cancelled: "-",
  running: "*",
  waiting: ".",
  question: "?",
  notice: "!",
  subagent: "&",
  message: "@",
  nested: "`",
  unknown: ".",
  more: "...",
  dot: "-",
  bar: "|",
  planDone: "[x]",
  planActive: "[*]",
  planOpen: "[ ]",
  planCancelled: "[-]",
  tools: {
    read: "read",
    edit: "edit",
    delete: "delete",
    move: "move",
    search: "search",
    execute: "$",
    think: "think",
    fetch: "fetch",
    switch_mode: "mode",
    other: "tool",
  },
};

/** Those that the terminal can show. */
export function marksFor(environment: NodeJS.ProcessEnv): Marks {
  const { TERM: kind } = environment;
  return kind === "linux" || kind === "dumb" || !hasUtf8(environment) ? asciiMarks : unicodeMarks;
}
