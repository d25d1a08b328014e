// Opens a transcript on a whole screen and scrolls through it, for `npm run bench`. Prints the longest time that a key took.

import type { Entry } from "@parley/acp";
import { applyEntry, createView, type SessionView } from "@parley/acp/view";
import { FullTranscript } from "../../src/chat/transcript/full-transcript.ts";
import { drawItem, loadDrawing } from "../../src/draw/draw-item.ts";
import { painter } from "../../src/terminal/paint.ts";

/** What the program is given as JSON. */
export interface TranscriptTask {
  /** "floor": a short transcript; "sdk": everything is drawn before the first screen. */
  readonly entrant: "ours" | "sdk" | "floor";
  readonly lines: number;
}

/** What it prints as JSON. */
export interface TranscriptSample {
  readonly lines: number;
  readonly longestMs: number;
}

const paint = painter(true, { TERM: "xterm" });
const size = { columns: 100, rows: 40 };
const shortLines = 1_000;
/** Of one turn, as drawn. */
const turnLines = 25;

function transcript(lines: number): SessionView {
  const view = createView();
  let seq = 0;
  const add = (update: object): void => {
    seq += 1;
    // updates as an agent sends them
    applyEntry(view, { format: 1, seq, time: seq, kind: "update", update } as unknown as Entry);
  };
  const text = (value: string) => ({ type: "text", text: value });
  for (let turn = 0; turn < lines / turnLines; turn += 1) {
    add({ sessionUpdate: "user_message", messageId: `u${turn}`, content: [text(`Prompt ${turn}`)] });
    const answer = `# Answer ${turn}\n\nSome **bold** text.\n\n- one\n- two\n\n\`\`\`ts\nconst turn = ${turn};\n\`\`\`\n\nDone.`;
    add({ sessionUpdate: "agent_message", messageId: `m${turn}`, content: [text(answer)] });
    const content = [{ type: "diff", path: `/${turn}.ts`, oldText: "a\nb\nc\n", newText: "a\nB\nc\n" }];
    const call = { title: `Edit ${turn}`, kind: "edit", status: "completed", content };
    add({ sessionUpdate: "tool_call_update", toolCallId: `t${turn}`, ...call });
  }
  return view;
}

/** Time of this thread alone: other programs on the machine do not count. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function longestKey(view: SessionView, keys: readonly string[]): number {
  let longest = 0;
  const timed = (work: () => void): void => {
    const start = cpuMs();
    work();
    longest = Math.max(longest, cpuMs() - start);
  };
  const nothing = (): void => undefined;
  const does = { closed: nothing, open: nothing, copy: nothing, redraw: nothing };
  const opened = new FullTranscript({ view: () => view, paint, cwd: "/", ...does });
  timed(() => opened.draw(size));
  for (const id of keys)
    timed(() => {
      opened.key(id.length === 1 ? { data: id, id, text: id } : { data: "", id });
      opened.draw(size);
    });
  return longest;
}

const pages = (id: string, count: number): string[] => Array.from({ length: count }, () => id);
const search = ["/", ..."const turn = 39;", "enter", "n", "N"];
const keys = [
  "enter",
  ...pages("pageUp", 200),
  "g",
  ...pages("pageDown", 200),
  "E",
  "]",
  "[",
  ...search,
  "G",
];

/** Everything, before the first screen is shown. */
function drawnWhole(view: SessionView): number {
  const start = cpuMs();
  for (const item of view.timeline) drawItem(item, view, { width: size.columns, paint, cwd: "/" });
  return cpuMs() - start;
}

const { entrant, lines }: TranscriptTask = JSON.parse(process.argv[2] ?? "");
await loadDrawing();
// who opens the transcript has seen such items before
longestKey(transcript(shortLines), keys);
const view = transcript(entrant === "floor" ? Math.min(lines, shortLines) : lines);
const longestMs = entrant === "sdk" ? drawnWhole(view) : longestKey(view, keys);
process.stdout.write(JSON.stringify({ lines, longestMs } satisfies TranscriptSample));
