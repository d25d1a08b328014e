import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as immediate } from "node:timers/promises";
import { HeadlessTerminal } from "../../test/support/headless-terminal.ts";
import { TerminalScreen } from "./terminal-screen.ts";

function opened(t: { after(work: () => void): void }, columns = 40, rows = 8) {
  const terminal = new HeadlessTerminal(columns, rows);
  const screen = new TerminalScreen(terminal, {});
  t.after(() => screen.close());
  const shows = async (...lines: string[]) => {
    screen.flush();
    assert.deepEqual(await terminal.everything(), lines);
  };
  return { terminal, screen, shows };
}

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`);

test("finished lines stay above a tail that is replaced", async (t) => {
  const { screen, shows, terminal } = opened(t);
  screen.draw({ lines: ["> ", "status"], cursor: { row: 0, column: 2 } });
  await shows(">", "status");
  screen.print(["hello", "world"]);
  screen.draw({ lines: ["> a", "status 2"], cursor: { row: 0, column: 3 } });
  await shows("hello", "world", "> a", "status 2");
  assert.deepEqual(await terminal.cursor(), { row: 2, column: 3 });
  screen.draw({ lines: ["running", "more", "> a", "status 2"], cursor: { row: 2, column: 3 } });
  await shows("hello", "world", "running", "more", "> a", "status 2");
  screen.draw({ lines: ["> "], cursor: { row: 0, column: 2 } });
  await shows("hello", "world", ">");
  screen.draw({ lines: [] });
  await shows("hello", "world");
  screen.print(["again"]);
  await shows("hello", "world", "again");
});

test("finished lines scroll into the scrollback of the terminal, each once and in order", async (t) => {
  const { screen, shows } = opened(t, 40, 6);
  screen.draw({ lines: ["> ", "status"] });
  for (let at = 1; at <= 100; at += 7) {
    screen.print(numbered(at, Math.min(100, at + 6)));
    screen.flush();
    screen.draw({ lines: at % 2 === 0 ? ["> ", "status"] : ["working", "> ", "status"] });
    screen.flush();
  }
  screen.draw({ lines: ["> ", "status"] });
  await shows(...numbered(1, 100), ">", "status");
});

test("only rows that changed are written again", async (t) => {
  const { screen, terminal } = opened(t);
  screen.draw({ lines: ["one", "two", "three"], cursor: { row: 0, column: 0 } });
  screen.flush();
  const before = terminal.written.length;
  screen.draw({ lines: ["one", "TWO", "three"], cursor: { row: 0, column: 0 } });
  screen.flush();
  const bytes = terminal.written.slice(before);
  assert.match(bytes, /TWO/);
  assert.doesNotMatch(bytes, /one|three/);
  screen.draw({ lines: ["one", "TWO", "three"], cursor: { row: 0, column: 0 } });
  screen.flush();
  assert.equal(terminal.written.length, before + bytes.length);
});

test("a frame is one synchronised update", async (t) => {
  const { screen, terminal } = opened(t);
  terminal.written = "";
  screen.print(["a"]);
  screen.draw({ lines: ["b"], cursor: { row: 0, column: 1 } });
  screen.flush();
  assert.ok(terminal.written.startsWith("\u001b[?2026h") && terminal.written.endsWith("\u001b[?2026l"));
  assert.equal(terminal.written.split("\u001b[?2026h").length, 2);
});

test("a tail that is higher than the terminal shows its end", async (t) => {
  const { screen, terminal, shows } = opened(t, 40, 5);
  screen.print(["done"]);
  screen.draw({ lines: [...numbered(1, 20), "> "], cursor: { row: 20, column: 2 } });
  await shows("done", "line 18", "line 19", "line 20", ">");
  assert.deepEqual(await terminal.cursor(), { row: 4, column: 2 });
});

test("a line that is too wide is cut, so that the rows stay where they are", async (t) => {
  const { screen, shows } = opened(t, 10, 6);
  screen.print(["0123456789abc", "漢字漢字漢字"]);
  screen.draw({ lines: ["\u001b[31mred and too wide\u001b[0m", "> "], cursor: { row: 1, column: 2 } });
  await shows("0123456789", "漢字漢字漢", "red and to", ">");
});

for (const [columns, rows] of [
  [60, 8],
  [20, 8],
  [40, 12],
  [40, 5],
  [13, 20],
] as const)
  test(`after a resize to ${columns}x${rows} nothing is printed again and the tail is where it belongs`, async (t) => {
    const { screen, terminal } = opened(t, 40, 8);
    const rule = (width: number) => "-".repeat(width);
    const tail = (width: number) => ({
      lines: ["working", rule(width), "> some text"],
      cursor: { row: 2, column: 5 },
    });
    screen.onResize(() => screen.draw(tail(terminal.columns)));
    screen.print(numbered(1, 30));
    screen.draw(tail(40));
    screen.flush();
    terminal.resize(columns, rows);
    screen.flush();
    screen.print(["after"]);
    screen.flush();
    const all = await terminal.everything();
    const shown = all.filter((line) => line !== "");
    assert.deepEqual(shown.slice(0, 30), numbered(1, 30));
    assert.deepEqual(shown.slice(30), ["after", ...tail(columns).lines]);
  });

test("the full screen covers everything, and gives it back", async (t) => {
  const { screen, terminal, shows } = opened(t, 20, 4);
  screen.print(["printed"]);
  screen.draw({ lines: ["> "], cursor: { row: 0, column: 2 } });
  screen.flush();
  const full = screen.fullScreen();
  full.draw({ lines: ["one", "two", "three", "four", "five"] });
  screen.print(["printed meanwhile"]);
  screen.flush();
  assert.equal(await terminal.isAlternate(), true);
  assert.deepEqual(await terminal.screen(), ["one", "two", "three", "four"]);
  full.draw({ lines: ["one"] });
  screen.flush();
  assert.deepEqual(await terminal.screen(), ["one", "", "", ""]);
  full.close();
  await shows("printed", "printed meanwhile", ">");
  assert.equal(await terminal.isAlternate(), false);
});

test("another program gets the terminal without the tail, and the tail comes back below what it wrote", async (t) => {
  const { screen, terminal, shows } = opened(t);
  screen.print(["printed"]);
  screen.draw({ lines: ["> ", "status"] });
  const answer = await screen.suspend(async () => {
    terminal.write("from an editor\r\n");
    screen.print(["printed meanwhile"]);
    return 7;
  });
  assert.equal(answer, 7);
  assert.deepEqual([terminal.starts, terminal.stops], [2, 1]);
  await shows("printed", "from an editor", "printed meanwhile", ">", "status");
});

test("keys have names and texts, and a paste is one", (t) => {
  const { screen, terminal } = opened(t);
  const seen: unknown[] = [];
  screen.onKey(({ id, text, paste }) => seen.push(paste === undefined ? [id, text] : { paste }));
  terminal.press(
    "a",
    "A",
    "é",
    "\r",
    "\u001b",
    "\u0003",
    "\u001b[A",
    "\u001b[1;5C",
    "\u001b\r",
    "\u001b[200~x\ny\u001b[201~",
  );
  assert.deepEqual(seen, [
    ["a", "a"],
    ["A", "A"],
    ["é", "é"],
    ["enter", undefined],
    ["escape", undefined],
    ["ctrl+c", undefined],
    ["up", undefined],
    ["ctrl+right", undefined],
    ["alt+enter", undefined],
    { paste: "x\ny" },
  ]);
});

test("closing removes the tail, shows the cursor and gives the title back", async (t) => {
  const { screen, terminal } = opened(t);
  screen.title("work \u001b]2;evil\u0007 done");
  screen.print(["printed"]);
  screen.draw({ lines: ["> ", "status"] });
  screen.close();
  assert.deepEqual(await terminal.everything(), ["printed"]);
  assert.deepEqual(await terminal.cursor(), { row: 1, column: 0 });
  assert.equal(terminal.stops, 1);
  assert.ok(terminal.written.includes("\u001b]2;work  done\u0007"));
  assert.ok(terminal.written.endsWith("\u001b[23;0t"));
  screen.print(["later"]);
  screen.flush();
  assert.deepEqual(await terminal.everything(), ["printed"]);
});

test("TH5 N198-N205 whatever a line has but text and colours, the terminal does not get it", async (t) => {
  const { screen, shows, terminal } = opened(t);
  const bad = "\u001b[2J\u001b[5A\u001b]52;c;aGk=\u0007\u001b]0;t\u0007\u009b6n\u001bP+q\u001b\\\r\n\u0007";
  const before = terminal.written.length;
  screen.print([`a${bad}`, `\u001b[31mred\u001b[0m`]);
  screen.draw({ lines: [`b${bad}`] });
  const text = "[2J[5A]52;c;aGk=]0;t6nP+q\\";
  await shows(`a${text}`, "red", `b${text}`);
  const full = screen.fullScreen();
  full.draw({ lines: [`c${bad}`] });
  screen.flush();
  full.close();
  const rest = terminal.written.slice(before);
  for (const each of ["\u001b]", "\u009b", "\u001bP", "\u0007", "\u001b[5A"])
    assert.equal(rest.includes(each), false, JSON.stringify(each));
});

test("a tail is made once per frame, however often it was drawn, and below what it prints", async (t) => {
  const { screen, shows } = opened(t);
  let made = 0;
  for (let at = 0; at < 100; at++)
    screen.draw(() => {
      made += 1;
      screen.print(["printed"]);
      return { lines: [`drawn ${at}`] };
    });
  await shows("printed", "drawn 99");
  assert.equal(made, 1);
});

test("a key is shown before a frame is due, and what streams in is not", async (t) => {
  // the time stands still, and so no frame is due
  t.mock.method(performance, "now", () => 1_000);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { screen, terminal } = opened(t);
  let typed = "";
  const early: boolean[] = [];
  const draw = () =>
    screen.draw((isEarly) => {
      early.push(isEarly);
      return { lines: [`> ${typed}`] };
    });
  draw();
  screen.flush();
  draw();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(early, [false], "nobody has typed");
  screen.onKey(({ text = "" }) => {
    typed += text;
    draw();
  });
  terminal.type("ab");
  await new Promise((resolve) => setImmediate(resolve));
  assert.match(terminal.written, /> ab/);
  assert.deepEqual(early, [false, true]);
  t.mock.timers.tick(16);
  assert.deepEqual(early, [false, true, false], "the frame that was due later still comes");
});

test("many lines are written over several frames, and a key goes between them", async (t) => {
  const { screen, terminal } = opened(t, 40, 8);
  let typed = "";
  screen.onKey(({ text }) => {
    typed += text ?? "";
    screen.draw(() => ({ lines: [`> ${typed}`] }));
  });
  screen.draw({ lines: ["> "] });
  screen.flush();
  terminal.written = "";
  screen.print(numbered(1, 2_000));
  while (terminal.written === "") await immediate();
  const first = terminal.written.length;
  assert.ok(first > 0 && first < 32 * 1024, `${first} characters`);
  terminal.type("q");
  // after the key, before anything else
  await new Promise<void>((resolve) => process.nextTick(resolve));
  assert.match(terminal.written, /> q/);
  assert.doesNotMatch(terminal.written, /line 2000/);
  while (!/line 2000/.test(terminal.written)) await immediate();
  const lines = await terminal.everything();
  assert.deepEqual(lines.slice(-3), ["line 1999", "line 2000", "> q"]);
});

test("a tail that there was no time for is drawn again at once, after the keys", async (t) => {
  const { screen, terminal } = opened(t);
  let frames = 0;
  screen.draw(() => {
    frames += 1;
    return { lines: [`frame ${frames}`], isPartial: frames < 5 };
  });
  while (frames < 5) await immediate();
  await immediate();
  assert.equal(frames, 5);
  assert.match(terminal.written, /frame 5/);
});

test("the title is written when it changes", (t) => {
  const { screen, terminal } = opened(t);
  for (const title of ["one", "one", "two", "two"]) screen.title(title);
  assert.equal(terminal.written.split("\u001b]2;").length, 3);
});

test("the mouse is reported on the whole screen only, and only where it is wanted", async (t) => {
  const terminal = new HeadlessTerminal(40, 8);
  const screen = new TerminalScreen(terminal, {}, { hasMouse: true });
  t.after(() => screen.close());
  assert.doesNotMatch(terminal.written, /\[\?1000h/);
  const full = screen.fullScreen();
  assert.ok(terminal.written.endsWith("\u001b[?1000h\u001b[?1006h"));
  const ids: string[] = [];
  screen.onKey(({ id }) => ids.push(id));
  terminal.press("\u001b[<64;3;4M", "\u001b[<65;3;4M", "\u001b[<0;3;4M");
  assert.deepEqual(ids, ["wheelUp", "wheelDown"]);
  full.close();
  assert.ok(terminal.written.includes("\u001b[?1000l\u001b[?1049l"));
  const other = opened(t);
  other.screen.fullScreen();
  assert.doesNotMatch(other.terminal.written, /1000/);
});

test("a terminal without UTF-8 gets ASCII, in as many columns", async (t) => {
  const terminal = new HeadlessTerminal(20, 6);
  const screen = new TerminalScreen(terminal, { LC_ALL: "C" });
  t.after(() => screen.close());
  screen.print(["│ 漢字 · naïve …"]);
  screen.draw({ lines: ["› write · here"], cursor: { row: 0, column: 9 } });
  screen.title("… agent · works");
  screen.flush();
  assert.deepEqual(await terminal.everything(), ["| ???? - na?ve ~", "> write - here"]);
  const full = screen.fullScreen();
  full.draw({ lines: ["▶ ✓ 漢"] });
  screen.flush();
  assert.match((await terminal.screen()).join("\n"), /^> \+ \?\?/);
  full.close();
  screen.close();
  // no byte of another character, which could be a control character there
  assert.doesNotMatch(terminal.written, /\P{ASCII}/u);
});
