// Builds the system prompt, most stable parts first so that providers can cache it.

import type { AgentSession, ContentBlock } from "@parley/acp";
import type { Mode } from "../permissions/modes.ts";
import type { Job } from "../tools/base/tool.ts";
import type { ContextFile } from "./context-files.ts";

const identity = `You are Parley, a coding agent that works in the user's project through tools.
- Look before you change: read files before editing them, and search instead of guessing.
- Make the smallest change that does what was asked, in the style of the code around it.
- For work of several steps keep a plan with the todo tool, and keep it up to date.
- Check what you did where you can: run the tests, read the result.
- When the user rejects a call, do not do the same by other means.
- Answer briefly, in Markdown, with paths relative to the working directory.`;

const modeRules: Readonly<Record<Mode, string>> = {
  ask: "Mode ask: the user is asked before every change and every command.",
  code: "Mode code: files of the project may be edited without asking; commands and hosts are asked about.",
  architect:
    "Mode architect: read and plan, change nothing. When the plan is ready, offer to leave this mode.",
  chat: "Mode chat: answer questions. There are no tools that touch anything.",
};

export interface SystemPromptOptions {
  readonly mode: Mode;
  readonly context: readonly ContextFile[];
  readonly jobs: readonly Job[];
}

export function systemPrompt(session: AgentSession, { mode, context, jobs }: SystemPromptOptions): string {
  const { systemPrompt: given, roots, cwd } = session;
  const theirs = given === undefined ? "" : textOf(given.content);
  const ours = given?.mode === "override" ? [] : [identity];
  const files = context.map(
    ({ path, text }) => `<instructions from=${JSON.stringify(path)}>\n${text.trim()}\n</instructions>`,
  );
  if (files.length > 1) files.push("Where instructions disagree, the last ones count.");
  const place = [`Working directory: ${cwd}`, ...roots.slice(1).map((root) => `Also allowed: ${root}`)];
  const beside = jobs.map(({ id, command }) => `Runs in the background: ${id} ${JSON.stringify(command)}`);
  return [...ours, theirs, ...files, modeRules[mode], place.join("\n"), beside.join("\n")]
    .filter((part) => part !== "")
    .join("\n\n");
}

function textOf(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}
