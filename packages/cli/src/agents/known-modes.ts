// The modes of known agents that let something pass without a question.

import { extensionIn, modesKey } from "@parley/acp/extensions";
import type { ShownPermission } from "@parley/client/policy";

/** A mode, as an agent lists it. */
interface NamedMode {
  readonly value: string;
  readonly name: string;
}

/** By its id or its name, in small letters and without anything else. Some ids are addresses that end in the name. */
interface KnownModes {
  /** Nothing is asked in these. */
  readonly unasked: readonly string[];
  /** Changes of files are not asked about in these. */
  readonly edits: readonly string[];
}

/**
 * Read in the code that each package publishes. Modes in which a model decides what is asked (auto of Claude and of Qwen)
 * are in neither list. Cline (cline 3.0.65) and Auggie (@augmentcode/auggie 0.36.0) have no such modes, the modes of
 * OpenCode (opencode-ai 1.18.33) are the user's own, and those of pi (pi-acp 0.0.34) are levels of thinking.
 */
const known: Readonly<Record<string, KnownModes>> = {
  // @agentclientprotocol/claude-agent-acp 0.100.0
  claude: { unasked: ["bypasspermissions"], edits: ["acceptedits"] },
  // @agentclientprotocol/codex-acp 2.6.0: workspace-write, agent ("Auto review"), agent-full-access ("Full access")
  // @zed-industries/codex-acp 0.16.0: auto ("Default"), full-access
  codex: { unasked: ["fullaccess", "agentfullaccess"], edits: ["workspacewrite", "agent", "auto"] },
  // @google/gemini-cli 0.61.0
  gemini: { unasked: ["yolo"], edits: ["autoedit"] },
  // @qwen-code/qwen-code 0.24.4
  qwen: { unasked: ["yolo"], edits: ["autoedit"] },
  // seen in use; the code of @github/copilot 1.0.102 is compressed
  copilot: { unasked: ["autopilot"], edits: [] },
  // @factory/cli 0.215.0: "Auto (High)" approves all actions, "Auto (Low)" edits, "Auto (Medium)" more than that
  droid: { unasked: ["autohigh"], edits: ["autolow", "automedium"] },
};

/** Whether nothing is asked in this mode. An agent that was started by its command has no name, so all names count. */
export function endsQuestions(mode: NamedMode): boolean {
  return Object.values(known).some(({ unasked }) => unasked.some((each) => isCalled(mode, each)));
}

/** Whether the agent would not have asked this in the mode. What is asked every time is not the agent's to decide. */
export function modeAllows(agent: string, mode: NamedMode, question: ShownPermission): boolean {
  const { isAlwaysAsked: always, subjects, request } = question;
  if (always || subjects.length === 0) return false;
  // our own agent says it
  const said = request?.options.flatMap(({ _meta }) => extensionIn(_meta, modesKey) ?? []) ?? [];
  if (said.includes(mode.value) || endsQuestions(mode)) return true;
  const isEdit = subjects.every(({ operation, deletes }) => operation === "write" && !deletes);
  return isEdit && (known[agent]?.edits ?? []).some((each) => isCalled(mode, each));
}

/** A question about switching to a mode in which nothing is asked. */
export function unaskedMode(agent: string, mode: string): string {
  return `In mode ${mode}, ${agent} changes files and runs commands without asking you.`;
}

function isCalled({ value, name }: NamedMode, called: string): boolean {
  return [value.replace(/^.*#/, ""), name].some(
    (text) => text.toLowerCase().replaceAll(/[^a-z\d]/g, "") === called,
  );
}
