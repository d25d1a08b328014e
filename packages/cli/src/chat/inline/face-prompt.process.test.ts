// Tests what the prompt of a screen does: clearing, the queue, images, shell lines, lists and themes.

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { patience } from "../../../test/support/chat-probe.ts";
import { faceWith, keys } from "../../../test/support/face-probe.ts";
import { painter } from "../../terminal/paint.ts";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const waits = { otherwise: [{ wait: { gate: "go" } }, { say: "Done." }] } as const;

test("what Ctrl-C has cleared comes back with the up key", patience, async (t) => {
  const { terminal, face, shows } = await faceWith(t, waits);
  terminal.type("a long thought");
  terminal.press(keys.ctrlC);
  await shows(/> write/);
  terminal.press(keys.up);
  assert.equal(face.composer.text, "a long thought");
});

test(
  "a waiting prompt comes back to the prompt with its images, before what is written there",
  patience,
  async (t) => {
    const { send, far, face, session, terminal, shows, cwd } = await faceWith(t, waits);
    writeFileSync(join(cwd, "one.png"), png);
    send("work");
    await far.agent.reached("go");
    face.composer.addImage({ mimeType: "image/png", data: "AAAA" });
    face.composer.addImage({ mimeType: "image/png", data: "BBBB" });
    face.composer.text = face.composer.text.replace("[image 1] ", "see ");
    terminal.press(keys.enter);
    await shows(/next {2}see \[image 2\]/);
    terminal.type("and me");
    terminal.press("\u001bq");
    await shows(/Waiting prompts/);
    terminal.press(keys.enter);
    await shows(/see \[image 1\]/);
    assert.equal(face.composer.text.replaceAll(/ +\n/g, "\n"), "see [image 1]\n\nand me");
    assert.deepEqual(face.composer.take().images, [{ mimeType: "image/png", data: "BBBB" }]);
    assert.equal(session.queue.length, 0);
    // a file that is dropped becomes an image
    terminal.press(`\u001b[200~'${join(cwd, "one.png")}'\u001b[201~`);
    await shows(/\[image 1\]/);
    assert.equal(face.composer.take().images?.[0]?.data, png.toString("base64"));
  },
);

test("Esc stops a command of the user, and one Ctrl-C too", patience, async (t) => {
  const { send, terminal, shows, session } = await faceWith(t, waits);
  await shows(/^far(?! · starting)/m);
  for (const key of [keys.escape, keys.ctrlC]) {
    send("!echo begun; sleep 600");
    await shows(/begun[\s\S]*command runs/);
    terminal.press(key);
    await shows((text) => !/command runs/.test(text));
    assert.equal(session.runsCommand, false);
  }
});

test("another theme prints nothing again", patience, async (t) => {
  const { send, far, shows, face, terminal, screen } = await faceWith(t, waits);
  far.agent.open("go");
  send("do it");
  await shows(/Done\./);
  face.usePaint(painter(true, { FORCE_COLOR: "1" }, "light"), "light");
  screen.flush();
  const all = (await terminal.everything()).join("\n");
  assert.equal(all.split("Done.").length, 2);
  assert.match(terminal.written, /38;5;25mfar/);
});

test("a session of the list is exported, renamed or closed by a key", patience, async (t) => {
  const { send, far, shows, terminal, cwd, conversation, session } = await faceWith(t, waits);
  far.agent.open("go");
  send("first words");
  await shows(/Done\./);
  terminal.press(keys.ctrlP);
  await shows(/Sessions[\s\S]*first words[\s\S]*Alt-E exports/);
  terminal.press("\u001be");
  await shows(/written to\s+\S*session-/);
  const [file = ""] = readdirSync(cwd).filter((name) => name.startsWith("session-"));
  assert.match(readFileSync(join(cwd, file), "utf8"), /first words/);
  terminal.press(keys.ctrlP);
  await shows(/1 ✓ first words/);
  terminal.press("\u001br");
  await shows(/> \/rename first words/);
  terminal.press(keys.ctrlC);
  const other = conversation.open({ kind: "new", agent: "far" });
  await shows(/new session · far/);
  terminal.press(keys.ctrlP);
  await shows(/Alt-F forks/);
  terminal.type("new session");
  await shows(/Sessions > new session +1 of 2/);
  terminal.press("\u0018");
  await shows((text) => !/Sessions/.test(text));
  assert.equal(other.phase, "closed");
  assert.equal(conversation.current, session);
});

test("a command of ours is never sent to the agent, also not while it works", patience, async (t) => {
  const { send, far, terminal, shows, session } = await faceWith(t, waits);
  send("work");
  await far.agent.reached("go");
  terminal.type("/rename A title");
  terminal.press(keys.altEnter);
  await shows((text) => !/rename/.test(text));
  assert.equal(session.title, "A title");
  assert.equal(session.turn?.isCancelling, false);
});

const select = (
  configId: string,
  category: string,
  value: string,
  names: Readonly<Record<string, string>>,
) => ({
  ...{ configId, category, type: "select", name: configId, currentValue: value },
  options: Object.entries(names).map(([each, name]) => ({ value: each, name })),
});

/** Values of options as some agents call them. */
const configured = {
  ...waits,
  open: {
    configOptions: [
      select("Mode", "mode", "https://example.org/modes#ask", {
        "https://example.org/modes#ask": "Ask first",
        "https://example.org/modes#auto": "Autopilot",
      }),
      select("Model", "model", "$runtime|sonnet", {
        "$runtime|sonnet": "Sonnet 5",
        "$runtime|opus": "Opus 5",
      }),
      { configId: "web", type: "boolean", name: "Web", currentValue: true },
    ],
  },
} as unknown as Parameters<typeof faceWith>[1]; // as: a fixture

test(
  "the first line says who works here, with which model, where, in which mode and sandbox",
  patience,
  async (t) => {
    const { shows, send, far, cwd } = await faceWith(t, configured, { columns: 140 });
    const [first = ""] = (await shows(/^far \(/)).split("\n");
    assert.equal(first, `far (scripted-agent 1.0.0) · Sonnet 5 · ${cwd} · mode Ask first · no sandbox`);
    far.agent.open("go");
    send("do it");
    assert.match(await shows(/Done\./), /^far \(.*\n\n› do it/, "above everything else");
  },
);

test(
  "Alt-O shows the names of values, and a part of a name filters the list of models",
  patience,
  async (t) => {
    const { shows, send, terminal, session } = await faceWith(t, configured);
    await shows(/^far \(/);
    terminal.press("\u001bo");
    const options = await shows(/Options >/);
    assert.match(options, /Mode +Ask first\n.*Model +Sonnet 5\n.*Web +on/);
    assert.doesNotMatch(options, /example\.org|runtime/);
    terminal.press(keys.escape);
    await shows((text) => !/Options >/.test(text));
    send("/model opu");
    assert.doesNotMatch(await shows(/Model > opu[\s\S]*Opus 5/), /\d .*Sonnet 5/);
    terminal.press(keys.enter);
    await shows(/far · Ask first · Opus 5/);
    assert.equal(session.options.find(({ configId }) => configId === "Model")?.currentValue, "$runtime|opus");
  },
);

test(
  "Ctrl-K lists every command with its key, filtered by what is typed; Alt-K deletes to the end of the line",
  patience,
  async (t) => {
    const { shows, terminal, face } = await faceWith(t, waits, { rows: 40 });
    await shows(/^far \(/);
    terminal.type("a draft");
    terminal.press("\u000b");
    assert.equal(face.composer.text, "a draft");
    assert.match(await shows(/Commands >/), /\/agent \[NAME\] {2}Alt-A +start a session with another agent/);
    terminal.type("whole transcript");
    await shows(/Commands > whole transcript[\s\S]*> Ctrl-O/);
    terminal.press(keys.enter);
    await shows(/q back/);
    terminal.press(keys.escape);
    await shows(/│ > a draft/);
    terminal.press("\u0001", "\u001bk");
    assert.equal(face.composer.text, "");
    terminal.press("\u000b");
    await shows(/Commands >/);
    terminal.type("rename");
    terminal.press(keys.enter);
    assert.equal(face.composer.text, "/rename ", "it needs a title");
    terminal.type("A title");
    terminal.press(keys.enter);
    await shows(/renamed to A title/);
    terminal.type("another draft");
    terminal.press("\u000b");
    await shows(/Commands >/);
    terminal.type("rename");
    terminal.press(keys.enter);
    assert.equal(face.composer.text, "/rename ");
    await shows(/your prompt is kept/);
    terminal.press("\u0001", keys.up);
    assert.equal(face.composer.text, "another draft");
  },
);

test("a renamed session says so, and its title stands above the prompt", patience, async (t) => {
  const { shows, send } = await faceWith(t, waits);
  await shows(/^far \(/);
  send("/rename The bicycle bell");
  assert.match(await shows(/renamed to The bicycle bell/), /\n╭─ The bicycle bell ─+\n│ > /);
});

test("the list of themes marks the one that is used", patience, async (t) => {
  const { shows, send, terminal } = await faceWith(t, waits);
  await shows(/^far \(/);
  send("/theme");
  await shows(/> 1 ✓ terminal/);
  terminal.type("ligh");
  terminal.press(keys.enter);
  send("/theme");
  await shows(/✓ light/);
});
