// `parley chat` in a real tmux: the real command, a real terminal, real agents.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { launcher } from "../../../acp/test/support/programs.ts";
import { chatHome, farAgent } from "../../test/support/chat-probe.ts";
import { TmuxProbe, withoutTmux } from "../../test/support/tmux-probe.ts";

const options = { timeout: 120_000, skip: withoutTmux() };
const shopping = "Shopping\n\n- milk\n- bread\n- a bicycle bell\n";
const cache = process.env["NODE_COMPILE_CACHE"];

test("a day with the offline agent: diff, permission, review, crash, resume", options, async (t) => {
  const { cwd, home } = chatHome(t);
  const file = join(cwd, "notes.txt");
  writeFileSync(file, shopping);
  execFileSync("git", ["init", "--quiet"], { cwd });
  const env = { PARLEY_HOME: home, PARLEY_MODEL: "offline", ...(cache && { NODE_COMPILE_CACHE: cache }) };
  const tmux = await TmuxProbe.open(t, { cwd, columns: 100, rows: 30, env });

  // first paint: the prompt can be written into at once
  await tmux.send(launcher);
  await tmux.shows(/parley · starting.*\n╭─.*\n│ > /);
  await tmux.type('replace "bread" with "rye bread" in notes.txt');
  await tmux.shows(/> replace "bread" with "rye bread" in notes\.txt/);
  await tmux.shows(/parley · Ask · Offline/);

  // a diff and a question, which Enter does not approve
  await tmux.press("Enter");
  const asked = await tmux.shows(/y (?:once| yes, this once)/);
  assert.match(asked, /parley wants to write .*notes\.txt[\s\S]*4 - - bread[\s\S]*4 \+ - rye bread/);
  assert.match(asked, /needs you/);
  await answer(tmux, "Enter");
  await tmux.shows(/refused/);
  assert.equal(readFileSync(file, "utf8"), shopping);

  // y does
  await tmux.send('replace "milk" with "oat milk" in notes.txt');
  await tmux.shows(/y (?:once| yes, this once)/);
  await answer(tmux, "y");
  await tmux.shows(/3 \+ - oat milk[\s\S]*1 file \+1 -1/);
  assert.equal(readFileSync(file, "utf8"), shopping.replace("milk", "oat milk"));

  // the review takes it back
  await tmux.send("/review");
  await tmux.shows(/Review {2}1 file \+1 -1[\s\S]*3 - - milk\n.*3 \+ - oat milk/);
  await tmux.press("u");
  await tmux.shows(/Review[^\n]*0 open|undone/);
  assert.equal(readFileSync(file, "utf8"), shopping);
  await tmux.press("q");
  await tmux.shows(/1 file \+1 -1[\s\S]*> write/);

  // the agent dies, and goes on
  const [agent] = await tmux.processes(" agent");
  assert.ok(agent !== undefined, "the process of the agent was not found");
  process.kill(agent, "SIGKILL");
  await tmux.shows(/parley · crashed/);
  await tmux.press("Enter");
  await tmux.shows(/parley · Ask · Offline/);
  await tmux.send("read notes.txt");
  await tmux.shows(/› read notes\.txt[\s\S]*bicycle bell[\s\S]*parley · Ask/);

  // leave, and come back
  await tmux.press("C-d");
  const left = await tmux.shows(/continue with: .*\n(.*\n)?shell>/);
  const [, id = ""] = /--session\s+(\S+)/.exec(left) ?? [];
  assert.notEqual(id, "");
  await tmux.start(`${launcher} chat --session ${id}`);
  await tmux.shows(/› read notes\.txt[\s\S]*parley · Ask · Offline/);
  await tmux.press("C-c");
  await tmux.shows(/Ctrl-C again to leave/);
  await tmux.press("C-c");
  await tmux.shows(/shell>/);
});

test("Ctrl-Z goes back to the shell, and fg brings the conversation back", options, async (t) => {
  const { cwd, home } = chatHome(t);
  const env = {
    PARLEY_HOME: home,
    PARLEY_MODEL: "offline",
    LC_ALL: "C",
    ...(cache && { NODE_COMPILE_CACHE: cache }),
  };
  const tmux = await TmuxProbe.open(t, { cwd, columns: 80, rows: 20, env });
  await tmux.send(launcher);
  // without UTF-8, in ASCII
  await tmux.shows(/parley - Ask - Offline/);
  await tmux.type("half a prompt");
  await tmux.shows(/> half a prompt/);
  await tmux.press("C-z");
  await tmux.shows(/Stopped[\s\S]*shell> *$/);
  await tmux.send("echo $((20 + 22)); fg");
  await tmux.shows(/42\n[\s\S]*parley - Ask - Offline[\s\S]*> half a prompt/);
  await tmux.type(" and more");
  await tmux.shows(/> half a prompt and more/);
});

test(
  "a kill while the review is open gives the terminal back; the next start has the earlier turns",
  options,
  async (t) => {
    const { cwd, home } = chatHome(t);
    const file = join(cwd, "notes.txt");
    writeFileSync(file, shopping);
    const env = { PARLEY_HOME: home, PARLEY_MODEL: "offline", ...(cache && { NODE_COMPILE_CACHE: cache }) };
    const tmux = await TmuxProbe.open(t, { cwd, columns: 100, rows: 30, env });
    await tmux.send(`${launcher} chat`);
    await tmux.shows(/parley · Ask · Offline/);
    await tmux.send('replace "milk" with "oat milk" in notes.txt');
    await tmux.shows(/y (?:once| yes, this once)/);
    await answer(tmux, "y");
    await tmux.shows(/1 file \+1 -1/);
    await tmux.send("/review");
    await tmux.shows(/Review {2}1 file \+1 -1/);
    const [chat] = await tmux.processes(" chat");
    assert.ok(chat !== undefined, "the process of the chat was not found");
    process.kill(chat, "SIGKILL");
    // what was before the review is on the screen again
    await tmux.shows(/› replace "milk"[\s\S]*> write to the agent/);
    // the shell may have written its prompt before
    await tmux.press("Enter");
    await tmux.shows(/> write to the agent[^\n]*\n(?:.*\n)?shell>/);

    await tmux.start(`${launcher} chat --continue`);
    await tmux.shows(/› replace "milk"[\s\S]*parley · Ask · Offline/);
    await tmux.send("/review");
    await tmux.shows(/Review {2}1 file \+1 -1[\s\S]*3 - - milk\n.*3 \+ - oat milk/);
    await tmux.press("q");
    await tmux.shows(/parley · Ask · Offline/);
    await tmux.send("/undo");
    await tmux.shows(/undone notes\.txt/);
    assert.equal(readFileSync(file, "utf8"), shopping);
    await tmux.press("C-d");
    await tmux.shows(/shell>/);

    // the undo itself is taken back by the next process
    await tmux.start(`${launcher} chat --continue`);
    await tmux.shows(/parley · Ask · Offline/);
    await tmux.send("/redo");
    await tmux.shows(/redone notes\.txt/);
    assert.equal(readFileSync(file, "utf8"), shopping.replace("milk", "oat milk"));
    await tmux.press("C-d");
    await tmux.shows(/shell>/);
  },
);

test("60 columns without colours: streaming, resize, scrollback, stop", options, async (t) => {
  const lines = Array.from({ length: 40 }, (_, at) => `- point ${at + 1} of forty`);
  const far = await farAgent(t, {
    turns: [{ when: "hold", steps: [{ say: "I hold." }, { wait: { gate: "never" } }] }],
    otherwise: [
      { say: `# Working\n\nOn **it**:\n\n${lines.join("\n")}\n` },
      { wait: { gate: "go" } },
      { say: "\nDone." },
    ],
  });
  const { cwd, home } = chatHome(t, { far });
  const env = { PARLEY_HOME: home, NO_COLOR: "1", ...(cache && { NODE_COMPILE_CACHE: cache }) };
  const tmux = await TmuxProbe.open(t, { cwd, columns: 60, rows: 20, env });
  await tmux.start(`${launcher} chat --agent far`);
  await tmux.shows(/far(?! · starting).*\n╭─.*\n│ > write/);

  // an answer is on the screen before it is whole
  await tmux.send("do it");
  await tmux.shows(/point 40 of forty[\s\S]*far · working \d+ s/);
  await tmux.type("a draft of mine");
  for (const [columns, rows] of [
    [100, 30],
    [40, 12],
    [60, 20],
  ] as const) {
    await tmux.resize(columns, rows);
    await tmux.shows(/> a draft of mine/);
  }
  far.agent.open("go");
  await tmux.shows(/Done\.[\s\S]*far(?! · working)/);
  const painted = await tmux.painted();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  assert.doesNotMatch(painted, /\u001b\[[\d;]*(?:3|4|9|10)\d/);

  // what was printed is there once, and copy mode finds it
  const all = await tmux.everything();
  for (const line of ["› do it", "Working", ...lines.map((each) => each.slice(2)), "Done."])
    assert.equal(all.split(`${line}\n`).length, 2, `${line} is there once:\n${all}`);
  assert.match(await tmux.findInCopyMode("point 1 of forty"), /- point 1 of forty/);

  // the draft is still there; Esc stops a turn
  await tmux.press("C-c");
  await tmux.send("hold");
  await tmux.shows(/I hold\.[\s\S]*working/);
  await tmux.press("Escape");
  await tmux.shows(/cancelled[\s\S]*> write/);
  await tmux.press("C-d");
  await tmux.shows(/shell>/);
});

test("plain: the command that continues the session is printed at a terminal", options, async (t) => {
  const { cwd, home } = chatHome(t);
  writeFileSync(join(cwd, "notes.txt"), shopping);
  const env = { PARLEY_HOME: home, PARLEY_MODEL: "offline", ...(cache && { NODE_COMPILE_CACHE: cache }) };
  const tmux = await TmuxProbe.open(t, { cwd, columns: 200, rows: 30, env });
  await tmux.start(`${launcher} chat --plain --proxy 'budget --time 30m'`);
  await tmux.shows(/Type a prompt, or \/help/);
  await tmux.send("read notes.txt");
  await tmux.shows(/bicycle bell[\s\S]*\n>\s*$/);
  await tmux.press("C-d");
  await tmux.shows(/continue with: .* --session \w+ --proxy "budget --time 30m"\n(.*\n)?shell>/);
});

/** Answers a question. A key that came too early is pressed again when it counts. */
async function answer(tmux: TmuxProbe, key: string): Promise<void> {
  await tmux.press(key);
  while (/did not count/.test(await tmux.shows(/did not count|parley · (?!needs you)/))) {
    await tmux.shows(/^(?![\s\S]*did not count)/);
    await tmux.press(key);
  }
}
