import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { SessionUpdate } from "@parley/acp";
import { memoryStore } from "@parley/acp/store";
import {
  calls,
  connected,
  inEveryVersion,
  said,
  says,
  scriptedModel,
  type Talk,
  talk,
  temporaryFolder,
} from "../../test/support/agent-probe.ts";

const edit = (path: string, oldText: string, newText: string) =>
  ["edit", { path, edits: [{ oldText, newText }] }] as const;
const removal = ["delete", { path: "a.txt" }] as const;
const read = (path: string) => ["read", { path }] as const;

/** Prompts, and returns what the agent said to it. */
async function ask({ session, updates }: Talk, prompt: string): Promise<string> {
  const from = updates.length;
  await session.prompt(prompt).result;
  return said(updates.slice(from));
}

inEveryVersion(
  "/undo takes back the last turn that changed something, then the one before, and /redo takes that back",
  { "a.txt": "one\ntwo\nthree\n", "keep.txt": "k\n" },
  async (setup) => {
    const store = memoryStore();
    const model = scriptedModel([
      calls(read("a.txt"), edit("a.txt", "one", "ONE"), ["write", { path: "new.txt", content: "n\n" }]),
      says("first done"),
      calls(edit("a.txt", "three", "THREE"), ["delete", { path: "keep.txt" }]),
      says("second done"),
      calls(read("a.txt")),
      says("it is read"),
      says("I know"),
    ]);
    const before = await talk({ ...setup, models: [model], mode: "code", store });
    const text = (name: string) => readFileSync(join(setup.cwd, name), "utf8");
    await ask(before, "make one loud");
    await ask(before, "make three loud");
    await ask(before, "only look");
    assert.equal(text("a.txt"), "ONE\ntwo\nTHREE\n");

    const undone = await ask(before, "/undo");
    assert.match(
      undone,
      /^Undid the changes of "make three loud":\n- undone a\.txt\n- undone keep\.txt\n.*`\/redo`/s,
    );
    assert.deepEqual([text("a.txt"), text("keep.txt")], ["ONE\ntwo\nthree\n", "k\n"]);
    assert.match(await ask(before, "/undo"), /"make one loud"/);
    assert.equal(text("a.txt"), "one\ntwo\nthree\n");
    assert.equal(existsSync(join(setup.cwd, "new.txt")), false);
    assert.match(await ask(before, "/undo"), /^There is nothing to undo/);
    assert.match(await ask(before, "/redo"), /^Redid the changes:\n- redone a\.txt\n- redone new\.txt\n/);
    assert.deepEqual([text("a.txt"), text("new.txt")], ["ONE\ntwo\nthree\n", "n\n"]);

    await ask(before, "go on");
    const told = JSON.stringify(model.sent.at(-1)?.messages.slice(-2));
    assert.match(told, /The user took back these changes of yours.*a\.txt.*-three.*\+THREE/s);
    assert.match(told, /put these changes of yours back.*new\.txt/s);
    await before.end();

    const again = scriptedModel([says("Welcome back")]);
    const { agent } = await connected({ ...setup, models: [again], store });
    const session = await agent.loadSession(before.session.sessionId, { cwd: setup.cwd });
    await session.prompt("still there?").result;
    assert.match(
      JSON.stringify(again.sent[0]?.messages),
      /Undid the changes of .*make three loud/s,
      "also later",
    );
  },
);

test("/undo keeps what the user changed since, and leaves lines alone that both changed", {
  timeout: 20_000,
}, async (context) => {
  const cwd = temporaryFolder(context, { "a.txt": "1\n2\n3\n4\n5\n6\n", "b.txt": "b\n" });
  const model = scriptedModel([
    calls(read("a.txt"), read("b.txt"), edit("a.txt", "1", "one"), edit("b.txt", "b", "agent's")),
    says("done"),
  ]);
  const talking = await talk({ version: 2, cwd, models: [model], mode: "code" });
  await ask(talking, "change");
  writeFileSync(join(cwd, "a.txt"), "one\n2\n3\n4\n5\nsix\n");
  writeFileSync(join(cwd, "b.txt"), "user's\n");
  const answer = await ask(talking, "/undo");
  assert.match(answer, /- merged a\.txt: your own changes to it stay/);
  assert.match(answer, /- refused b\.txt: you changed this since/);
  assert.equal(readFileSync(join(cwd, "a.txt"), "utf8"), "1\n2\n3\n4\n5\nsix\n");
  assert.equal(readFileSync(join(cwd, "b.txt"), "utf8"), "user's\n");
});

test("a turn that only reads takes no snapshot; one that changes something stores in undoFolder", {
  timeout: 20_000,
}, async (context) => {
  const cwd = temporaryFolder(context, { "a.txt": "a\n" });
  const undoFolder = join(temporaryFolder(context, {}), "undo");
  const model = scriptedModel([
    calls(read("a.txt"), ["grep", { pattern: "a" }], ["todo", { entries: [] }]),
    says("read"),
    calls(removal),
    says("changed"),
  ]);
  const talking = await talk({ version: 2, cwd, models: [model], undoFolder, answers: ["allow_once"] });
  await ask(talking, "look");
  assert.equal(existsSync(undoFolder), false);
  await ask(talking, "run");
  assert.notEqual(readdirSync(undoFolder).length, 0);
  assert.match(await ask(talking, "/undo"), /- undone a\.txt/);
  assert.equal(readFileSync(join(cwd, "a.txt"), "utf8"), "a\n");
  await talking.end();
});

test("a call that the user rejects, and a turn that is cancelled, are no reason to lose an undo", {
  timeout: 20_000,
}, async (context) => {
  const cwd = temporaryFolder(context, { "a.txt": "a\n" });
  const undoFolder = join(temporaryFolder(context, {}), "undo");
  const hang = Promise.withResolvers<void>();
  const model = scriptedModel([
    calls(removal),
    says("then not"),
    calls(removal),
    async function* ({ signal }) {
      hang.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      yield* says("");
    },
  ]);
  const answers = ["reject_once", "allow_once"];
  const talking = await talk({ version: 2, cwd, models: [model], undoFolder, answers });
  await ask(talking, "rejected");
  assert.equal(existsSync(undoFolder), false, "nothing ran");
  const { result } = talking.session.prompt("cancelled");
  await hang.promise;
  await talking.session.cancel();
  assert.equal((await result).stopReason, "cancelled");
  assert.match(await ask(talking, "/undo"), /^Undid the changes of "cancelled":\n- undone a\.txt/);
  assert.equal(readFileSync(join(cwd, "a.txt"), "utf8"), "a\n");
});

test("a client that reviews changes itself gets neither snapshots nor /undo", {
  timeout: 20_000,
}, async (context) => {
  const cwd = temporaryFolder(context, { "a.txt": "a\n" });
  const undoFolder = join(temporaryFolder(context, {}), "undo");
  const model = scriptedModel([calls(removal), says("changed")]);
  const clientDefinition = { _meta: { "_parley.dev/review": true } };
  const options = { version: 2, cwd, models: [model], undoFolder, mode: "ask" } as const;
  const plain = await talk(options);
  const names = ({ session }: Talk) => session.availableCommands.map(({ name }) => name);
  assert.ok(names(plain).includes("undo") && names(plain).includes("redo"));
  const talking = await talk({ ...options, clientDefinition, answers: ["allow_once"] });
  assert.deepEqual(
    names(talking).filter((name) => name === "undo" || name === "redo"),
    [],
  );
  await ask(talking, "change");
  assert.equal(existsSync(join(cwd, "a.txt")), false);
  assert.match(await ask(talking, "/undo"), /has its own undo/);
  assert.equal(existsSync(undoFolder), false);
});

inEveryVersion(
  "/undo takes back turns of an earlier process, and /redo puts them back",
  { "a.txt": "a\n" },
  async (setup) => {
    const store = memoryStore();
    const undoFolder = join(temporaryFolder(setup.context, {}), "undo");
    const given = { ...setup, store, undoFolder, mode: "code" as const };
    const first = await talk({ ...given, models: [scriptedModel([calls(removal), says("removed")])] });
    await ask(first, "remove it");
    await first.end();
    const second = await connected({ ...given, models: [scriptedModel([])] });
    const updates: SessionUpdate[] = [];
    const session = await second.agent.loadSession(first.session.sessionId, {
      cwd: setup.cwd,
      onUpdate: (update) => void updates.push(update),
    });
    await session.prompt("/undo").result;
    assert.match(said(updates), /Undid the changes of "remove it":\n- undone a\.txt/);
    assert.equal(readFileSync(join(setup.cwd, "a.txt"), "utf8"), "a\n");
    await second.end();
    const third = await connected({ ...given, models: [scriptedModel([])] });
    const again = await third.agent.loadSession(first.session.sessionId, { cwd: setup.cwd });
    await again.prompt("/redo").result;
    assert.equal(existsSync(join(setup.cwd, "a.txt")), false);
    await third.end();
  },
);

test("where nothing can be stored, the call still runs, and the user is told", {
  timeout: 20_000,
}, async (context) => {
  const cwd = temporaryFolder(context, { "a.txt": "a\n" });
  const undoFolder = join(temporaryFolder(context, { file: "" }), "file");
  const model = scriptedModel([calls(removal), says("changed")]);
  const talking = await talk({ version: 2, cwd, models: [model], undoFolder, answers: ["allow_once"] });
  await ask(talking, "change");
  assert.equal(existsSync(join(cwd, "a.txt")), false);
  assert.match(JSON.stringify(talking.updates), /The changes of this turn cannot be undone/);
  assert.match(await ask(talking, "/undo"), /^Nothing was changed: /);
});

test("/undo in the middle of a turn that changes files says to wait", {
  timeout: 20_000,
}, async (context) => {
  const cwd = temporaryFolder(context, { "a.txt": "a\n" });
  const asked = Promise.withResolvers<void>();
  const sent = Promise.withResolvers<void>();
  const model = scriptedModel([
    calls(removal),
    async function* () {
      asked.resolve();
      await sent.promise;
      yield* says("changed");
    },
  ]);
  const talking = await talk({ version: 2, cwd, models: [model], answers: ["allow_once"] });
  const { result } = talking.session.prompt("change");
  await asked.promise;
  const undo = talking.session.steer("/undo");
  sent.resolve();
  await Promise.all([result, undo.result]);
  assert.match(said(talking.updates), /This turn has started to change files/);
  assert.match(await ask(talking, "/undo"), /- undone a\.txt/);
});
