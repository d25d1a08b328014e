// `npm run screens`: draws the screens of `parley chat` that README.md shows, as SVG, from a terminal without a window.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentStep } from "@parley/conformance/testing";
import { loadHighlighting } from "../../src/draw/highlight.ts";
import { painter } from "../../src/terminal/paint.ts";
import { faceWith, keys } from "../support/face-probe.ts";
import type { HeadlessTerminal } from "../support/headless-terminal.ts";
import { svgOf } from "./svg-of.ts";

const folder = fileURLToPath(new URL("../../../../docs/screens", import.meta.url));
const before = `export function parseSize(text: string): number {
  const [, amount, unit] = /^(\\d+)(k|m)$/.exec(text) ?? [];
  return Number(amount) * (unit === "k" ? 1024 : 1024 ** 2);
}
`;
const after = `export function parseSize(text: string): number {
  const [, amount, unit = ""] = /^(\\d+)(k|m)?$/i.exec(text) ?? [];
  if (amount === undefined) throw new RangeError(\`no size: \${text}\`);
  return Number(amount) * units[unit.toLowerCase()];
}
`;
const plan = (done: number): AgentStep => ({
  plan: ["Find why the test fails", "Accept sizes without a unit", "Run the tests"].map((content, at) => ({
    content,
    priority: "medium",
    status: at < done ? "completed" : at === done ? "in_progress" : "pending",
  })),
});
const name = "src/size.ts";
const path = `{{cwd}}/${name}`;
const steps: AgentStep[] = [
  plan(0),
  { think: "The test passes a size without a unit, and the pattern wants one." },
  { tool: { title: `Read ${name}`, kind: "read", locations: [{ path }] }, steps: [{ add: before }] },
  {
    tool: { title: "npm test", kind: "execute" },
    steps: [
      {
        display: { command: "npm test" },
        output: "\u001b[31m✖\u001b[0m a size may have no unit\n\u001b[32m✔\u001b[0m sizes in KiB and MiB\n",
        exit: { exitCode: 1 },
      },
    ],
    status: "failed",
  },
  {
    say: `The pattern in \`parseSize\` wants a **unit**, so \`"512"\` is not a number:\n\n- a size without a unit is a number of bytes\n- anything else is an error, instead of \`NaN\`\n`,
  },
  plan(1),
  {
    tool: { title: `Edit ${name}`, kind: "edit", locations: [{ path, line: 2 }] },
    steps: [
      { diff: { path, oldText: before, newText: after } },
      { ask: true },
      { wait: { gate: "written" } },
    ],
  },
  plan(2),
  { tool: { title: "npm test", kind: "execute" }, steps: [{ start: true }, { wait: { gate: "tests" } }] },
  plan(3),
  { say: "Fixed: sizes without a unit are bytes. All tests pass." },
];

// the pictures are the same wherever and whenever they are drawn
process.env["TMPDIR"] = "/tmp";
let time = Date.UTC(2026, 10, 15, 10);
Date.now = () => time;

const cleanups: (() => unknown)[] = [];
await loadHighlighting();
const shown = await faceWith(
  { after: (work) => void cleanups.push(work as () => unknown) },
  { otherwise: steps },
  {
    columns: 96,
    rows: 30,
    paint: painter(true, { COLORTERM: "truecolor" }, "dark"),
    name: "claude",
  },
);
const { cwd, terminal, shows, send, far } = shown;
mkdirSync(join(cwd, "src"));
writeFileSync(join(cwd, name), before);
mkdirSync(folder, { recursive: true });
await shows(/^claude(?! · starting)/);

send("fix the failing test");
await shows(/y (?:once| yes, this once)/);
time += 4_000;
await draw("permission", "parley chat: the agent asks before it changes a file", terminal);

// a key counts when the question has been there for a while
do {
  await shows((text) => !/did not count/.test(text));
  terminal.press("y");
} while (/did not count/.test(await shows(/did not count|working/)));
await far.agent.reached("written");
writeFileSync(join(cwd, name), after);
far.agent.open("written");
await far.agent.reached("tests");
send("then add a test for 1.5k");
terminal.type("and @src/si");
await shows(/next {2}then add[\s\S]*→ src\/size\.ts/);
time += 8_000;
await draw("working", "parley chat: the agent works, a prompt waits, and the next one is written", terminal);

terminal.press(keys.escape, keys.ctrlC);
far.agent.open("tests");
await shows(/1 file/);
far.agent.open("written");
terminal.resize(96, 18);
send("/review");
await shows(/Review[\s\S]*1 open/);
await draw("review", "parley chat: the review of what the agent changed", terminal);
for (const work of cleanups.reverse()) await work();
process.exit(0);

/** What is under way may still add or remove a line. */
async function settled(): Promise<void> {
  let text = "";
  for (let unchanged = 0; unchanged < 20; ) {
    shown.face.redraw();
    const now = await shows(() => true);
    unchanged = now === text ? unchanged + 1 : 0;
    text = now;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

async function draw(name: string, title: string, from: HeadlessTerminal): Promise<void> {
  await settled();
  writeFileSync(
    join(folder, `${name}.svg`),
    svgOf(await from.cells(), title, (text) => text.replaceAll(cwd, "/home/me/sizes")),
  );
}
