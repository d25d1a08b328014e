import assert from "node:assert/strict";
import { test } from "node:test";
import type { Conversation, OpenQuestion } from "@parley/client/conversation";
import { keyPress } from "../../screen/key-press.ts";
import type { Screen } from "../../screen/screen.ts";
import { painter } from "../../terminal/paint.ts";
import type { Composer } from "./composer.ts";
import { QuestionDock } from "./question-dock.ts";

const paint = painter(false, {});
const size = { columns: 80, rows: 20 };

/** A dock above a prompt in which somebody may be writing. */
class Docked {
  readonly composer = { isEmpty: true, touchedAt: Number.NEGATIVE_INFINITY };
  readonly answers: string[] = [];
  readonly dock = new QuestionDock({} as Screen, this.composer as Composer); // what is read
  questions: readonly OpenQuestion[] = [];

  question(id: string): OpenQuestion {
    const answer = (isYes: boolean) => {
      this.answers.push(`${id} ${isYes}`);
      this.show(...this.questions.filter((each) => each.id !== id));
    };
    return { id, kind: "confirm", lines: [id], ask: "Really?", answer };
  }

  show(...questions: readonly OpenQuestion[]): void {
    this.questions = questions;
    const session = { agent: { name: "a" }, cwd: "/p", questions } as unknown as Conversation; // what is read
    this.dock.ask(session, paint, () => questions.length);
  }

  draw(now: number, given = size): string {
    return this.dock.sheet?.draw(given, now).lines.join("\n") ?? "";
  }

  yes(now: number): void {
    const key = keyPress("y");
    assert.ok(key);
    if (this.dock.isFocused) this.dock.sheet?.key(key, now);
  }
}

test("TH5 a question that waited while the user wrote does not take the next key as its answer", () => {
  const docked = new Docked();
  docked.composer.isEmpty = false;
  docked.show(docked.question("one"));
  docked.draw(0);
  docked.dock.settle();
  docked.yes(5_000);
  assert.equal(docked.dock.isFocused, false);
  // what was written is sent: the keys go to the question, which was drawn long ago
  docked.composer.isEmpty = true;
  docked.dock.settle();
  assert.equal(docked.dock.isFocused, true);
  docked.yes(5_001);
  docked.draw(5_002);
  docked.yes(5_100);
  docked.yes(5_300);
  assert.deepEqual(docked.answers, []);
  docked.yes(5_700);
  assert.deepEqual(docked.answers, ["one true"]);
});

test("TH5 a question in the place of another is not answered by a key that was meant for that or is held down", () => {
  const docked = new Docked();
  docked.show(docked.question("one"), docked.question("two"));
  docked.draw(0);
  docked.yes(1_000);
  docked.draw(1_010);
  // the first repetition of a key that is held down
  docked.yes(1_510);
  for (let now = 1_540; now < 3_000; now += 30) docked.yes(now);
  assert.deepEqual(docked.answers, ["one true"]);
  docked.yes(4_000);
  assert.deepEqual(docked.answers, ["one true", "two true"]);
  // withdrawn, and another comes in its place
  docked.show(docked.question("three"));
  docked.draw(10_000);
  docked.show();
  docked.show(docked.question("four"));
  docked.draw(11_000);
  docked.yes(11_400);
  assert.deepEqual(docked.answers.slice(2), []);
});

test("whoever answers a question beside a draft answers the next one too, unless the draft goes on", () => {
  const docked = new Docked();
  docked.composer.isEmpty = false;
  docked.show(docked.question("one"), docked.question("two"));
  assert.equal(docked.dock.isFocused, false, "the user is writing");
  docked.dock.turn();
  docked.draw(0);
  docked.yes(5_000);
  assert.deepEqual(docked.answers, ["one true"]);
  assert.equal(docked.dock.isFocused, true, "no key for the second question lands in the draft");
  docked.draw(5_010);
  docked.yes(9_000);
  // the next one comes a moment later
  docked.show(docked.question("three"));
  assert.equal(docked.dock.isFocused, true);
  docked.show();
  docked.composer.touchedAt = performance.now() + 1;
  docked.show(docked.question("four"));
  assert.equal(docked.dock.isFocused, false, "the user writes again");
});

test("TH5 a question that was hidden must be there for a while again", () => {
  const docked = new Docked();
  docked.show(docked.question("one"));
  docked.draw(0);
  docked.dock.uncovered();
  docked.yes(9_000);
  docked.draw(9_001);
  docked.yes(9_200);
  assert.deepEqual(docked.answers, []);
});

test("TH5 a question that is not seen in a window that is too small is not answered", () => {
  const docked = new Docked();
  docked.show(docked.question("delete it"));
  for (const [at, given] of [
    { columns: 20, rows: 3 },
    { columns: 80, rows: 3 },
    { columns: 35, rows: 4 },
    { columns: 1, rows: 1 },
  ].entries()) {
    assert.doesNotMatch(docked.draw(at * 10_000, given), /y yes/);
    docked.yes(at * 10_000 + 5_000);
  }
  assert.deepEqual(docked.answers, []);
  assert.match(docked.draw(90_000, { columns: 30, rows: 6 }), /delete it[\s\S]*y yes/);
  docked.yes(91_000);
  assert.deepEqual(docked.answers, ["delete it true"]);
});
