// Questions end once: answered, failed or withdrawn.

import assert from "node:assert/strict";
import { test } from "node:test";
import { askedBy, OpenQuestions } from "../jsonrpc.ts";

interface Shown {
  readonly id: string;
  readonly signal: AbortSignal;
  answer(text: string): void;
  fail(error: unknown): void;
}

function asking(changes: { count: number } = { count: 0 }) {
  const open = new OpenQuestions<Shown>(() => changes.count++);
  const ask = (options = {}) =>
    open.ask<string>(
      () => "withdrawn",
      options,
      (question) => question,
    );
  return { open, ask };
}

test("a question is listed until it is answered, and only the first answer counts", async () => {
  const changes = { count: 0 };
  const { open, ask } = asking(changes);
  const answered = ask();
  const [question] = open.list;
  question?.answer("yes");
  question?.answer("no");
  question?.fail(new Error("late"));
  assert.equal(await answered, "yes");
  assert.equal(question?.signal.aborted, false);
  assert.deepEqual([open.list, changes.count], [[], 2]);
});

test("a question that is withdrawn gets the answer for withdrawn questions, and later answers have no effect", async () => {
  const { open, ask } = asking();
  const stop = new AbortController();
  const [first, second, third] = [ask({ signal: stop.signal }), ask(), ask({ ms: 1 })];
  const shown = open.list;
  stop.abort();
  shown[0]?.answer("yes");
  assert.equal(await first, "withdrawn");
  assert.equal(await third, "withdrawn");
  open.abort();
  assert.equal(await second, "withdrawn");
  assert.ok(shown.every(({ signal }) => signal.aborted));
  assert.equal(open.cancels, 1);
  assert.equal(await ask({ signal: stop.signal }), "withdrawn");
});

test("no question is asked while questions are refused", async () => {
  const { open, ask } = asking();
  open.refuse();
  assert.equal(await ask(), "withdrawn");
  open.accept();
  const asked = ask();
  open.list[0]?.answer("yes");
  assert.equal(await asked, "yes");
});

test("a handler answers or fails its question, and is not waited for after a withdrawal", async () => {
  const open = new OpenQuestions<undefined>();
  assert.equal(await askedBy(open, {}, "none", () => "now"), "now");
  const broken = () => {
    throw new Error("broken");
  };
  await assert.rejects(askedBy(open, {}, "none", broken), /broken/);
  const waiting = askedBy<string>(open, {}, "none", () => new Promise(() => undefined));
  open.abort();
  assert.equal(await waiting, "none");
  assert.deepEqual(open.list, []);
});

test("a question is withdrawn also by what is done while it is being shown", async () => {
  const open = new OpenQuestions<string>();
  const signals: AbortSignal[] = [];
  const answer = open.ask(
    () => "withdrawn",
    {},
    ({ signal }) => {
      signals.push(signal);
      open.abort();
      return "shown";
    },
  );
  assert.equal(await answer, "withdrawn");
  assert.deepEqual([signals[0]?.aborted, open.list], [true, []]);
});

test("a question that cannot be shown fails, and is not open", async () => {
  const open = new OpenQuestions<string>();
  const answer = open.ask(
    () => "withdrawn",
    {},
    () => {
      throw new Error("no window");
    },
  );
  await assert.rejects(answer, /no window/);
  assert.deepEqual(open.list, []);
});
