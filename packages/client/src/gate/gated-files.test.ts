import assert from "node:assert/strict";
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type TestContext, test } from "node:test";
import { RequestError, type Turn } from "@parley/acp";
import { auditLog, verifyAudit } from "@parley/client/audit";
import { folder, rules, talk } from "../../test/support/gate-probe.ts";
import { type Decision, type GateOptions, type PermissionQuestion, permissionGate } from "../policy.ts";

type Files = NonNullable<Turn["client"]["files"]>;

/** What an agent gets that does this with the client's files. */
async function withFiles<Result>(
  t: TestContext,
  cwd: string,
  options: GateOptions,
  work: (files: Files, turn: Turn) => Promise<Result>,
): Promise<{ result: Result; decisions: Decision[] }> {
  let result: Result | undefined;
  const decisions: Decision[] = [];
  const { gate, go } = await talk(t, cwd, options, async (turn) => {
    assert.ok(turn.client.files);
    result = await work(turn.client.files, turn);
  });
  gate.onDecision((decision) => decisions.push(decision));
  await go();
  return { result: result as Result, decisions };
}

async function code(work: Promise<unknown>): Promise<number | string> {
  return work.then(
    () => "done",
    (error: unknown) => (error instanceof RequestError ? error.code : String(error)),
  );
}

const codeOf = (
  t: TestContext,
  cwd: string,
  options: GateOptions,
  work: (files: Files) => Promise<unknown>,
) => withFiles(t, cwd, options, (files) => code(work(files))).then(({ result }) => result);

test("reading below the roots is served without asking, elsewhere only where the user declared it (C18)", async (t) => {
  const cwd = folder(t, { a: "1\n2\n3\n" });
  const other = folder(t, { b: "else" });
  assert.equal(
    (await withFiles(t, cwd, {}, (files) => files.readText(join(cwd, "a"), { line: 2, limit: 1 }))).result,
    "2\n",
  );
  assert.equal(await codeOf(t, cwd, {}, (files) => files.readText(join(other, "b"))), -32061);
  const { result } = await withFiles(t, cwd, {}, (files) =>
    files.readText(join(other, "b")).catch((error: Error) => error.message),
  );
  assert.equal(result.split(cwd).length - 1, 1, result);
  const extra = await withFiles(t, cwd, { extraRoots: [other] }, (files) => files.readText(join(other, "b")));
  assert.equal(extra.result, "else");
});

test("without a rule and without a person nothing is written, and the agent is told why", async (t) => {
  const cwd = folder(t);
  const { result, decisions } = await withFiles(t, cwd, {}, async (files) =>
    files.writeText(join(cwd, "a"), "x").catch((error: RequestError) => error),
  );
  assert.ok(result instanceof RequestError);
  assert.equal(result.code, -32060);
  assert.match(
    result.message,
    /^write .*\/a was not permitted: nobody is there to ask: no rule allows this change yet$/,
  );
  assert.throws(() => readFileSync(join(cwd, "a")), /ENOENT/);
  assert.deepEqual(
    decisions.map(({ effect, by }) => `${effect} by ${by}`),
    ["deny by nobody"],
  );
});

test("what a rule says counts for where the path leads, not for how it is written", async (t) => {
  const cwd = folder(t, { "secret/key": "1", "src/a": "1" });
  symlinkSync("../secret", join(cwd, "src/link"));
  const options = { rules: rules("deny read secret", "allow write src") };
  for (const path of ["secret/key", "src/../secret/key", "src/link/key"])
    assert.equal(await codeOf(t, cwd, options, (files) => files.readText(join(cwd, path))), -32060, path);
  assert.equal(
    await codeOf(t, cwd, options, (files) => files.writeText(join(cwd, "src/link/key"), "x")),
    -32060,
  );
  assert.equal(
    await codeOf(t, cwd, options, (files) => files.writeText(join(cwd, "src/new/a"), "x")),
    "done",
  );
});

test("a name with a dot in the workspace or a project in it is asked about whatever is allowed, unless it is harmless", async (t) => {
  const cwd = folder(t, { "lib/Cargo.toml": "", "src/a": "" });
  const asked: string[] = [];
  const permission = ({ subjects, isAlwaysAsked: always }: PermissionQuestion) => {
    asked.push(`${relative(cwd, subjects[0]?.path ?? "")} ${always}`);
    return "deny:once";
  };
  const paths = [
    ".mocharc.js",
    "lib/.unknown/x",
    ".gitignore",
    ".cache/x",
    "src/.unknown",
    "lib/src/.unknown",
  ];
  const { result } = await withFiles(
    t,
    cwd,
    { rules: rules("allow write **"), asker: { permission } },
    (files) => Promise.all(paths.map((path) => code(files.writeText(join(cwd, path), "x")))),
  );
  assert.deepEqual(asked, [".mocharc.js true", "lib/.unknown/x true"]);
  assert.deepEqual(result, [-32060, -32060, "done", "done", "done", "done"]);
});

test("a person is shown what a write changes, and it is done once (Q7)", async (t) => {
  const cwd = folder(t, { a: "old\n" });
  const questions: PermissionQuestion[] = [];
  const permission = (question: PermissionQuestion) => {
    questions.push(question);
    return "allow:once";
  };
  const write = (files: Files) => files.writeText(join(cwd, "a"), "new\n");
  const { result } = await withFiles(t, cwd, { asker: { permission } }, async (files) => [
    await code(write(files)),
    await code(write(files)),
  ]);
  assert.deepEqual(result, ["done", "done"]);
  assert.equal(questions.length, 2);
  const [first] = questions;
  assert.deepEqual(first?.diff, { path: join(cwd, "a"), oldText: "old\n", newText: "new\n" });
  assert.deepEqual(
    first?.choices.map(({ id }) => id),
    ["allow:once", "allow:session", "allow:edits", "deny:once", "deny:session"],
  );
});

test("what has changed while the question was open is asked about again", async (t) => {
  const cwd = folder(t, { a: "old\n" });
  const shown: unknown[] = [];
  const permission = ({ diff }: PermissionQuestion) => {
    if (shown.push(diff?.oldText) === 1) writeFileSync(join(cwd, "a"), "theirs\n");
    return "allow:once";
  };
  assert.equal(
    await codeOf(t, cwd, { asker: { permission } }, (files) => files.writeText(join(cwd, "a"), "mine\n")),
    "done",
  );
  assert.deepEqual(shown, ["old\n", "theirs\n"]);
});

test("a directory that becomes a link while the question is open is asked about as what it leads to", async (t) => {
  const cwd = folder(t, { "d/a": "inside\n", "guarded/a": "guarded\n" });
  const asked: string[] = [];
  const permission = ({ summary }: PermissionQuestion) => {
    if (asked.push(summary) === 1) {
      renameSync(join(cwd, "d"), join(cwd, "was-d"));
      symlinkSync("guarded", join(cwd, "d"));
      return "allow:once";
    }
    return "deny:once";
  };
  assert.equal(
    await codeOf(t, cwd, { asker: { permission } }, (files) => files.writeText(join(cwd, "d/a"), "x")),
    -32060,
  );
  assert.deepEqual(asked, [`write ${cwd}/d/a`, `write ${cwd}/guarded/a`]);
  assert.equal(readFileSync(join(cwd, "guarded/a"), "utf8"), "guarded\n");
});

test("unsaved text of an editor is read, and written back into it (C30)", async (t) => {
  const cwd = folder(t, { a: "disk\n" });
  const buffers = new Map([[join(cwd, "a"), "one\ntwo\n"]]);
  const overlay = {
    read: (path: string) => buffers.get(path),
    write: (path: string, content: string) => buffers.has(path) && Boolean(buffers.set(path, content)),
  };
  const options = { overlay, rules: rules("allow write **") };
  const { result } = await withFiles(t, cwd, options, async (files) => {
    const text = await files.readText(join(cwd, "a"), { line: 2 });
    await files.writeText(join(cwd, "a"), "mine\n");
    await files.writeText(join(cwd, "b"), "new\n");
    return text;
  });
  assert.equal(result, "two\n");
  assert.equal(buffers.get(join(cwd, "a")), "mine\n");
  assert.equal(readFileSync(join(cwd, "a"), "utf8"), "disk\n");
  assert.equal(readFileSync(join(cwd, "b"), "utf8"), "new\n");
});

test("what a person has just allowed an agent is not asked again when the agent has us do it (TH3)", async (t) => {
  const cwd = folder(t, { a: "old\n" });
  const asked: string[] = [];
  const permission = ({ summary, choices }: PermissionQuestion) => {
    asked.push(summary);
    return choices.find(({ effect }) => effect === "allow")?.id;
  };
  const { result, decisions } = await withFiles(t, cwd, { asker: { permission } }, async (files, turn) => {
    const codes: unknown[] = [];
    await turn.tool({ title: "Edit a", kind: "edit" }, async (tool) => {
      await tool.diff({ path: join(cwd, "a"), oldText: "old\n", newText: "new\n" });
      await tool.requestPermission();
      codes.push(await code(files.writeText(join(cwd, "a"), "new\n")));
    });
    return codes;
  });
  assert.deepEqual(result, ["done"]);
  assert.deepEqual(asked, [`write ${cwd}/a`]);
  assert.deepEqual(
    decisions.map(({ by }) => by),
    ["user", "approval"],
  );
});

test("an approval is used up, and is for nothing else: not for another text, another file or another turn (TH3)", async (t) => {
  const cwd = folder(t, { a: "old\n" });
  let asked = 0;
  const permission = ({ choices, subjects }: PermissionQuestion) => {
    asked++;
    return choices.find(({ effect }) => effect === (subjects[0]?.origin === "claim" ? "allow" : "deny"))?.id;
  };
  const codes: unknown[] = [];
  let turns = 0;
  const { go } = await talk(t, cwd, { asker: { permission } }, async (turn) => {
    const { files } = turn.client;
    const write = async (path: string, text: string) =>
      codes.push(await code(files?.writeText(join(cwd, path), text) ?? Promise.reject()));
    if (++turns === 1) {
      for (let round = 0; round < 2; round++)
        await turn.tool({ title: "Edit a", kind: "edit" }, async (tool) => {
          await tool.diff({ path: join(cwd, "a"), oldText: "old\n", newText: "new\n" });
          await tool.requestPermission();
        });
      await write("a", "evil\n");
      await write("b", "new\n");
      await write("a", "new\n");
    } else await write("a", "new\n");
  });
  await go();
  await go();
  assert.deepEqual(codes, [-32060, -32060, "done", -32060]);
  assert.equal(asked, 5);
});

test("what was allowed for a session is allowed to the agent and to us", async (t) => {
  const cwd = folder(t, { a: "old\n" });
  const asked: string[] = [];
  const permission = ({ summary, subjects }: PermissionQuestion) => {
    asked.push(`${subjects[0]?.origin} ${summary}`);
    return "allow:session";
  };
  const edit = (turn: Turn, path: string) =>
    turn.tool({ title: "Edit", kind: "edit", rawInput: { path: join(cwd, path) } }, (tool) =>
      tool.requestPermission(),
    );
  const { result } = await withFiles(t, cwd, { asker: { permission } }, async (files, turn) => [
    await edit(turn, "a"),
    await code(files.writeText(join(cwd, "a"), "one\n")),
    await code(files.writeText(join(cwd, "b"), "two\n")),
    await edit(turn, "b"),
  ]);
  assert.deepEqual(result.slice(1, 3), ["done", "done"]);
  assert.deepEqual(asked, [`claim write ${cwd}/a`, `op write ${cwd}/b`]);
});

test("every effect is announced before it happens and its outcome told after, without its content", async (t) => {
  const cwd = folder(t, { a: "old" });
  const audit = auditLog(join(folder(t), "audit"));
  const options = { audit, agent: "probe", rules: rules("allow write a", "deny write b") };
  await withFiles(t, cwd, options, async (files) => {
    await files.readText(join(cwd, "a"));
    await files.writeText(join(cwd, "a"), "TOP-SECRET");
    await code(files.writeText(join(cwd, "b"), "x"));
    await code(files.readText(join(cwd, "missing")));
  });
  audit.close();
  const { isWhole, entries, unknown } = verifyAudit(audit.path);
  assert.deepEqual([isWhole, unknown], [true, []]);
  assert.deepEqual(
    entries.map(({ kind, operation, result, of }) => [kind, operation ?? result, of].join(" ").trim()),
    [
      "intent read",
      "outcome done 1",
      "intent write",
      "outcome done 3",
      "refused write",
      "intent read",
      "outcome failed -32002 6",
      "end",
    ],
  );
  assert.equal(entries[2]?.bytes, 10);
  assert.match(entries[4]?.reason ?? "", /^deny write b/);
  assert.ok(!readFileSync(audit.path, "utf8").includes("TOP-SECRET"));
});

test("what cannot be written down is not done", async (t) => {
  const cwd = folder(t);
  const audit = auditLog(join(folder(t, { file: "" }), "file/audit"));
  const options = { audit, rules: rules("allow write **") };
  assert.equal(await codeOf(t, cwd, options, (files) => files.writeText(join(cwd, "a"), "x")), -32067);
  assert.throws(() => readFileSync(join(cwd, "a")), /ENOENT/);
});

test("a session that was closed reads and writes nothing", async (t) => {
  const cwd = folder(t, { a: "1" });
  const { files, terminals } = permissionGate({ rules: rules("allow *") }).services({
    sessionId: "s",
    cwd,
    roots: [cwd],
  });
  await files.close();
  await terminals.close();
  assert.equal(await code(files.readText(join(cwd, "a"))), -32067);
  assert.equal(await code(terminals.create({ command: "true" })), -32067);
});

test("a session may have sixteen questions open; the next is refused at once (TH4)", async (t) => {
  const cwd = folder(t);
  mkdirSync(join(cwd, "d"));
  let open = 0;
  const many = Promise.withResolvers<void>();
  const permission = () => {
    if (++open === 16) many.resolve();
    return new Promise<undefined>(() => undefined);
  };
  const gate = permissionGate({ asker: { permission } });
  const { files } = gate.services({ sessionId: "s", cwd, roots: [cwd] });
  t.after(() => files.close());
  const controller = new AbortController();
  const { signal } = controller;
  const waiting = Array.from({ length: 16 }, (_, at) =>
    code(files.writeText(join(cwd, `${at}`), "x", { signal })),
  );
  await many.promise;
  assert.equal(await code(files.writeText(join(cwd, "last"), "x")), -32060);
  controller.abort();
  const [first] = await Promise.all(waiting);
  assert.match(String(first), /aborted/);
});

test("what leads outside is refused without asking, and written down (Q8)", async (t) => {
  const cwd = folder(t, {});
  const other = folder(t, { b: "else" });
  symlinkSync(join(other, "b"), join(cwd, "link"));
  const audit = auditLog(join(folder(t), "audit"));
  await withFiles(t, cwd, { audit }, async (files) => {
    assert.equal(await code(files.readText(join(cwd, "link"))), -32061);
    assert.equal(await code(files.writeText(join(other, "b"), "mine")), -32061);
    // a file that is not there is nobody's refusal
    assert.equal(await code(files.readText(join(cwd, "none"))), -32002);
  });
  audit.close();
  const { entries } = verifyAudit(audit.path);
  assert.deepEqual(
    entries
      .filter(({ kind }) => kind === "refused")
      .map(({ operation, target, reason }) => [operation, target, reason]),
    [
      ["read", join(cwd, "link"), "it leads outside the workspace"],
      ["write", join(other, "b"), "it leads outside the workspace"],
    ],
  );
});

test("TH3 what the user has cancelled changes nothing more, whatever is allowed, until the next prompt", async (t) => {
  const cwd = folder(t, { "a.txt": "old" });
  const path = join(cwd, "a.txt");
  const said: string[] = [];
  const { gate, session, go } = await talk(t, cwd, { rules: rules("allow write **") }, async ({ client }) => {
    const { files } = client;
    if (said.length === 0) gate.cancel(session);
    said.push((await files?.readText(path)) ?? "");
    said.push(
      await (files?.writeText(path, `${said.length}`) ?? Promise.reject()).then(
        String,
        ({ message }) => message,
      ),
    );
  });
  await go();
  assert.deepEqual(said, [
    "old",
    `write ${path} was not permitted: the user has cancelled, and nothing more is done until the next prompt`,
  ]);
  assert.deepEqual([readFileSync(path, "utf8"), gate.refused], ["old", 0]);
  await go();
  assert.equal(readFileSync(path, "utf8"), "3");
});

test("a write in base64 is asked about by its text, and bytes that are no text are shown as such", async (t) => {
  const cwd = folder(t, { a: "old" });
  const asked: PermissionQuestion[] = [];
  const permission = async (question: PermissionQuestion) => {
    asked.push(question);
    return "allow:once";
  };
  const { files } = permissionGate({ asker: { permission } }).services({
    sessionId: "s",
    cwd,
    roots: [cwd],
  });
  t.after(() => files.close());
  await files.writeText(join(cwd, "a"), btoa("new"), { encoding: "base64" });
  await files.writeText(join(cwd, "b"), btoa("\xff\0"), { encoding: "base64", overwrite: false });
  assert.deepEqual(
    asked.map(({ diff }) => [diff?.oldText, diff?.newText]),
    [
      ["old", "new"],
      [undefined, "(binary data, 2 bytes)"],
    ],
  );
  assert.equal(readFileSync(join(cwd, "a"), "utf8"), "new");
  assert.deepEqual([...readFileSync(join(cwd, "b"))], [0xff, 0]);
  assert.equal(await code(files.writeText(join(cwd, "b"), "x", { overwrite: false })), -32066);
  assert.equal(await files.readText(join(cwd, "b"), { encoding: "hex" }), "ff00");
});
