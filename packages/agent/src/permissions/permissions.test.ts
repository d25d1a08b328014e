import assert from "node:assert/strict";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
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
  toolStories,
} from "../../test/support/agent-probe.ts";
import { customTool, stubRead, stubRun, stubWrite } from "../../test/support/stub-tools.ts";

const tools = [stubRead, stubWrite, stubRun];
const write = (path: string) => ["write", { path, content: "x" }] as const;
const run = (command: string) => ["bash", { command }] as const;

const questions = ({ asks }: Talk) => asks.map(({ title }) => title);

inEveryVersion(
  "mode ask asks before every change and every command, and not before reading",
  { a: "1" },
  async (setup) => {
    const model = scriptedModel([
      calls(["read", { path: "a" }], write("b"), run("ls"), write("b")),
      says("done"),
    ]);
    const made = await talk({
      ...setup,
      tools,
      models: [model],
      answers: ["allow_once", "reject_once", "allow_once"],
    });
    await made.session.prompt("go").result;
    assert.deepEqual(questions(made), ["Write b", "ls", "Write b"]);
    assert.deepEqual(
      toolStories(made.updates).map((story) => story.split(": ")[1]),
      [
        "pending > in_progress > completed",
        "pending > in_progress > completed",
        // version 1 has no status for it
        setup.version === 1 ? "pending > failed" : "pending > cancelled",
        "pending > in_progress > completed",
      ],
    );
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /The user rejected this call/);
  },
);

inEveryVersion("a question says why it is asked, and in which modes it would not be", {}, async (setup) => {
  const model = scriptedModel([calls(write("b"), run("ls"), write(".env")), says("done")]);
  const answers = ["reject_once", "reject_once", "reject_once"];
  const made = await talk({ ...setup, tools, models: [model], answers });
  await made.session.prompt("go").result;
  const modesOf = ({ options }: Talk["asks"][number]) =>
    options.find(({ kind }) => kind === "allow_once")?._meta?.["_parley.dev/modes"];
  // without a sandbox, mode code asks about commands too, and a protected file is asked about in every mode
  assert.deepEqual(made.asks.map(modesOf), [["code"], undefined, undefined]);
  if (setup.version === 2)
    assert.deepEqual(
      made.asks.map(({ description }) => String(description).replace(/ in \S+|,.*/, "")),
      [
        "mode ask asks about every change",
        "this command runs without a sandbox",
        `${join(realpathSync(setup.cwd), ".env")} is protected`,
      ],
    );
  await made.end();
});

inEveryVersion("the model hears who refused a call, if that was not the user", {}, async (setup) => {
  const model = scriptedModel([calls(run("ls")), says("done")]);
  const requestPermission = () => ({
    outcome: "selected" as const,
    optionId: "reject_once",
    _meta: { "_parley.dev/refusal": "deny exec ls (--deny)" },
  });
  const made = await talk({ ...setup, tools, models: [model], clientDefinition: { requestPermission } });
  await made.session.prompt("go").result;
  const told = JSON.stringify(model.requests[1]?.messages.at(-1));
  assert.match(told, /This call was refused: deny exec ls \(--deny\)/);
  assert.doesNotMatch(told + JSON.stringify(made.updates), /the user/i);
  await made.end();
});

inEveryVersion("the model hears what the user said beside a no, also after a restart", {}, async (setup) => {
  const store = memoryStore();
  const model = scriptedModel([calls(run("npm install")), says("done"), says("hello again")]);
  const requestPermission = () => ({
    outcome: "selected" as const,
    optionId: "reject_once",
    _meta: { "_parley.dev/said": "use pnpm" },
  });
  const given = { ...setup, tools, models: [model], store, clientDefinition: { requestPermission } };
  const first = await talk(given);
  await first.session.prompt("go").result;
  assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /rejected this call: use pnpm/);
  const { sessionId } = first.session;
  await first.end();
  const { agent, end } = await connected(given);
  const again = await agent.loadSession(sessionId, { cwd: setup.cwd });
  await again.prompt("go on").result;
  assert.match(JSON.stringify(model.requests[2]?.messages), /rejected this call: use pnpm/);
  await end();
});

inEveryVersion(
  "without a sandbox mode code edits without asking, and asks about each command once",
  {},
  async (setup) => {
    const model = scriptedModel([calls(write("b"), run("ls"), run("ls"), run("ls -l")), says("done")]);
    const made = await talk({
      ...setup,
      tools,
      models: [model],
      mode: "code",
      answers: ["allow_always", "allow_once"],
    });
    await made.session.prompt("go").result;
    assert.deepEqual(questions(made), ["ls", "ls -l"]);
    assert.ok(existsSync(join(setup.cwd, "b")));
  },
);

inEveryVersion(
  "a folder with files in it is not deleted unasked in any mode",
  { "old/a": "1", "old/b": "2", c: "3" },
  async (setup) => {
    const remove = (path: string) => ["delete", { path, recursive: true }] as const;
    const model = scriptedModel([calls(remove("c"), remove("old"), remove("old")), says("done")]);
    const answers = ["reject_once", "allow_once"];
    const made = await talk({ ...setup, models: [model], mode: "code", answers });
    await made.session.prompt("go").result;
    assert.deepEqual(questions(made), Array(2).fill("Delete old and everything in it"));
    assert.deepEqual(readdirSync(setup.cwd), []);
  },
);

inEveryVersion(
  "protected paths are asked about in every mode, and always again",
  { ".env": "KEY=1" },
  async (setup) => {
    const model = scriptedModel([
      calls(["read", { path: ".env" }], ["read", { path: ".env" }], write(".git-hooks/../.env.local")),
      says("done"),
    ]);
    const options = {
      tools,
      models: [model],
      mode: "code",
      answers: ["allow_once", "allow_once", "allow_once"],
    } as const;
    const made = await talk({ ...setup, ...options });
    await made.session.prompt("go").result;
    assert.equal(made.asks.length, 3);
    for (const { options: offered } of made.asks)
      assert.ok(offered.every(({ kind }) => kind.endsWith("_once")));
  },
);

inEveryVersion(
  "a name with a dot in the workspace or a project in it is asked about, unless it is a cache or a list of files",
  {
    "lib/package.json": "{}",
    "lib/.mocharc.json": "{}",
    ".gitignore": "old",
    "src/made.js": "",
    "src/tool/plugins/x.cjs": "",
  },
  async (setup) => {
    const move = (from: string, to: string) => ["move", { from, to }] as const;
    const unasked = [
      ["read", { path: ".gitignore" }],
      ["edit", { path: ".gitignore", old_string: "old", new_string: "new" }],
      write(".cache/x"),
      write("src/.unknown"),
      write("lib/src/.unknown"),
      write("lib/.nyc_output/x"),
    ] as const;
    const asked = [
      write(".mocharc.js"),
      move("src/made.js", ".prettierrc.js"),
      move("src/tool", ".yarn"),
      ["delete", { path: "lib/.mocharc.json" }],
      write("lib/.unknown/x"),
    ] as const;
    // whoever removes the manifest does not get further
    const later = [["delete", { path: "lib/package.json" }], write("lib/.eslintrc.js")] as const;
    const model = scriptedModel([calls(...unasked, ...asked), calls(...later), says("done")]);
    const made = await talk({ ...setup, models: [model], mode: "code", answers: [] });
    await made.session.prompt("go").result;
    assert.deepEqual(questions(made), [
      "Create .mocharc.js",
      "Move src/made.js to .prettierrc.js",
      "Move src/tool to .yarn",
      "Delete lib/.mocharc.json",
      "Create lib/.unknown/x",
      "Create lib/.eslintrc.js",
    ]);
    for (const { options: offered } of made.asks)
      assert.ok(offered.every(({ kind }) => kind.endsWith("_once")));
    assert.deepEqual(readdirSync(setup.cwd).sort(), [".cache", ".gitignore", "lib", "src"]);
  },
);

inEveryVersion(
  "B3 mode architect changes nothing, with the same tools as every mode",
  { a: "1" },
  async (setup) => {
    const model = scriptedModel([calls(["read", { path: "a" }], write("b"), run("ls")), says("done")]);
    const made = await talk({ ...setup, tools, models: [model], mode: "architect" });
    await made.session.prompt("go").result;
    assert.deepEqual(
      model.requests[0]?.tools.map(({ name }) => name),
      tools.map(({ name }) => name),
    );
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /Mode architect does not allow write/);
    assert.deepEqual(questions(made), []);
    assert.equal(existsSync(join(setup.cwd, "b")), false);
  },
);

inEveryVersion(
  "in mode chat not even a tool that is offered there reads a file",
  { a: "1" },
  async (setup) => {
    const model = scriptedModel([calls(["read", { path: "a" }]), says("done")]);
    const tools = [{ ...stubRead, modes: ["chat"] as const }];
    const { session, asks, end } = await talk({ ...setup, tools, models: [model], mode: "chat" });
    await session.prompt("go").result;
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /this mode only answers questions/);
    assert.deepEqual(asks, []);
    await end();
  },
);

inEveryVersion("mode chat touches nothing at all", { a: "1" }, async (setup) => {
  const model = scriptedModel([calls(["read", { path: "a" }]), says("done")]);
  const made = await talk({ ...setup, tools, models: [model], mode: "chat" });
  await made.session.prompt("go").result;
  const told = JSON.stringify(model.requests[1]?.messages.at(-1));
  assert.match(told, /Mode chat does not allow read\. No tools are available now/);
});

inEveryVersion("a call refused by 'never' is never shown as in progress", {}, async (setup) => {
  const model = scriptedModel([calls(run("ls")), calls(run("ls")), says("done")]);
  const made = await talk({ ...setup, tools, models: [model], answers: ["reject_always"] });
  await made.session.prompt("go").result;
  assert.deepEqual(
    toolStories(made.updates).map((story) => story.split(": ")[1]),
    [setup.version === 1 ? "pending > failed" : "pending > cancelled", "pending > failed"],
  );
});

inEveryVersion(
  "a mode that is switched while a turn runs counts from the next call on",
  {},
  async (setup) => {
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const gate = customTool("gate", async () => {
      reached.resolve();
      await goOn.promise;
      return "open";
    });
    const model = scriptedModel([calls(["gate", {}], write("b")), says("done")]);
    const made = await talk({ ...setup, tools: [...tools, gate], models: [model] });
    const { session } = made;
    const prompt = session.prompt("go");
    await reached.promise;
    await session.setMode("code");
    goOn.resolve();
    await prompt.result;
    assert.deepEqual(questions(made), [], "mode code does not ask");
    assert.ok(existsSync(join(setup.cwd, "b")));
    const mode = session.configOptions.find(({ category }) => category === "mode");
    assert.ok(mode?.type === "select");
    assert.equal(mode.currentValue, "code");
  },
);

inEveryVersion("always and never are remembered, listed and forgotten", {}, async (setup) => {
  const again = () => calls(run("ls"), run("rm -r /"), write("b"));
  const model = scriptedModel([again(), says("1"), again(), says("2"), again(), says("3")]);
  const answers = [
    "allow_always",
    "reject_always",
    "allow_always",
    "reject_once",
    "reject_once",
    "reject_once",
  ];
  const made = await talk({ ...setup, tools, models: [model], answers });
  const { session, updates, asks } = made;
  await session.prompt("go").result;
  assert.equal(asks.length, 3);
  await session.prompt("again").result;
  assert.equal(asks.length, 3, "nobody is asked twice");
  assert.match(
    JSON.stringify(model.requests[3]?.messages.at(-1)),
    /The user has chosen never to allow this: run rm -r/,
  );
  updates.length = 0;
  await session.prompt("/permissions").result;
  assert.match(said(updates), /always: `run ls \(in .*\)`/);
  assert.match(said(updates), /never: `run rm -r \/ /);
  assert.match(said(updates), /always: `write .*b`/);
  await session.prompt("/permissions clear").result;
  await session.prompt("again").result;
  assert.equal(asks.length, 6);
});

inEveryVersion(
  "'always allow writing' covers neither delete nor move; 'never write' forbids both",
  { a: "1", b: "1" },
  async (setup) => {
    const remove = (path: string) => ["delete", { path }] as const;
    const model = scriptedModel([
      calls(["read", { path: "a" }], write("a"), write("a"), remove("a")),
      calls(["move", { from: "a", to: "c" }], ["read", { path: "b" }], write("b"), remove("b")),
      says("done"),
    ]);
    const made = await talk({
      ...setup,
      models: [model],
      answers: ["allow_always", "reject_once", "reject_once", "reject_always"],
    });
    await made.session.prompt("go").result;
    assert.deepEqual(questions(made), ["Write a", "Delete a", "Move a to c", "Write b"]);
    assert.ok(existsSync(join(setup.cwd, "a")) && existsSync(join(setup.cwd, "b")));
    const names = made.asks.map(({ options }) => options.find(({ kind }) => kind === "allow_always")?.name);
    assert.deepEqual(names.slice(0, 3), [
      "Always allow changes to this file",
      "Always allow deleting this",
      "Always allow moving this there",
    ]);
  },
);

inEveryVersion("what is approved automatically is an option", { a: "1" }, async (setup) => {
  const step = () => calls(["read", { path: "a" }], write("b"));
  const model = scriptedModel([step(), says("1"), step(), says("2")]);
  const made = await talk({ ...setup, tools, models: [model], answers: ["allow_once", "reject_once"] });
  await made.session.setConfigOption("autoApprove", "off");
  await made.session.prompt("go").result;
  assert.deepEqual(questions(made), ["Read a", "Write b"]);
  await made.session.setConfigOption("autoApprove", "edits");
  await made.session.prompt("go").result;
  assert.equal(made.asks.length, 2);
});

inEveryVersion("a cancel while the user is asked ends the turn, and nothing is done", {}, async (setup) => {
  const model = scriptedModel([calls(write("b"), write("c")), says("done")]);
  const asked = Promise.withResolvers<void>();
  const made = await talk({
    ...setup,
    tools,
    models: [model],
    clientDefinition: {
      requestPermission: () => {
        asked.resolve();
        return new Promise(() => undefined);
      },
    },
  });
  const prompt = made.session.prompt("go");
  await asked.promise;
  made.session.cancel();
  assert.equal((await prompt.result).stopReason, "cancelled");
  assert.equal(existsSync(join(setup.cwd, "b")), false);
  assert.equal(toolStories(made.updates).length, 1);
});

inEveryVersion(
  "a title cannot be made to look like something else, and the whole command is shown",
  {},
  async (setup) => {
    const command = `echo ok\nrm -r ~ # \u202eApproved ${"x".repeat(1_000)}`;
    const model = scriptedModel([calls(run(command)), says("done")]);
    const { session, asks } = await talk({ ...setup, tools, models: [model] });
    await session.prompt("go").result;
    const [ask] = asks;
    assert.match(ask?.title ?? "", /^echo ok rm -r ~ # +Approved x+…$/);
    assert.equal(ask?.title.length, 200);
    const content = ask?.subject?.type === "tool_call" ? ask.subject.toolCall.content : undefined;
    assert.deepEqual(content?.[0], {
      type: "content",
      content: { type: "text", text: `\`\`\`sh\n${command}\n\`\`\`` },
    });
  },
);

inEveryVersion("N128 an answer that was never offered is a no", {}, async (setup) => {
  const model = scriptedModel([calls(write("b")), says("done")]);
  await talk({ ...setup, tools, models: [model], answers: ["sudo"] }).then(
    ({ session }) => session.prompt("go").result,
  );
  assert.equal(existsSync(join(setup.cwd, "b")), false);
});

inEveryVersion("'always' and 'never' answers are restored when the session is loaded", {}, async (setup) => {
  const store = memoryStore();
  const wanted = () => calls(run("ls"), write("b"), run("pwd"));
  const before = await talk({
    ...setup,
    tools,
    store,
    models: [scriptedModel([wanted(), says("done")])],
    answers: ["allow_always", "reject_always", "allow_once"],
  });
  await before.session.prompt("go").result;
  await before.end();

  const model = scriptedModel([wanted(), says("done"), wanted(), says("done")]);
  const again = await connected({ ...setup, tools, store, models: [model] });
  const updates: SessionUpdate[] = [];
  const { sessionId } = before.session;
  const onUpdate = (update: SessionUpdate) => void updates.push(update);
  const session = await again.agent.loadSession(sessionId, { cwd: setup.cwd, onUpdate });
  updates.length = 0;
  await session.prompt("/permissions").result;
  assert.match(said(updates), /always: `run ls .*never: `write .*b`/s);
  await session.prompt("go on").result;
  assert.deepEqual(
    again.asks.map(({ title }) => title),
    ["pwd"],
  );
  await session.prompt("/permissions clear").result;
  await again.end();

  const last = await connected({ ...setup, tools, store, models: [scriptedModel([wanted(), says("done")])] });
  const loaded = await last.agent.loadSession(sessionId, { cwd: setup.cwd });
  await loaded.prompt("go on").result;
  assert.equal(last.asks.length, 3, "what was forgotten stays forgotten");
});

inEveryVersion("TH9 neither _meta nor an unknown mode grants more permissions", {}, async (setup) => {
  const meta = {
    bypassPermissions: true,
    "parley/mode": "bypass",
    permissions: "allow_all",
    autoApprove: "all",
  };
  const model = scriptedModel([calls(run("touch made")), says("done")]);
  const { agent, session, asks } = await talk({
    ...setup,
    tools,
    models: [model],
    answers: ["reject_once"],
  });
  for (const value of ["bypass", "bypassPermissions", "yolo", ""]) {
    await assert.rejects(session.setConfigOption("mode", value), { code: -32602 });
    await assert.rejects(session.setConfigOption("autoApprove", value), { code: -32602 });
  }
  const other = await agent.newSession({ cwd: setup.cwd, _meta: meta });
  await other.prompt("go", { _meta: meta }).result;
  assert.equal(asks.length, 1, "it was asked all the same");
  assert.equal(existsSync(join(setup.cwd, "made")), false);
});

inEveryVersion(
  "reading outside the roots is asked about in every mode, and always means exactly this path",
  { "w/a": "1", "lib/x.ts": "one", "lib/y.ts": "two" },
  async (setup) => {
    const base = realpathSync(setup.cwd);
    const read = (path: string) => ["read", { path }] as const;
    for (const mode of ["ask", "code", "architect"] as const) {
      const both = () => calls(read("../lib/x.ts"), read("../lib/y.ts"));
      const list = ["list", { path: "../lib" }] as const;
      const model = scriptedModel([both(), both(), calls(list), says("done")]);
      const made = await talk({
        ...setup,
        cwd: join(base, "w"),
        models: [model],
        mode,
        answers: ["allow_always", "reject_once", "allow_once", "reject_once"],
      });
      await made.session.prompt("go").result;
      const [x, y] = [`Read ${base}/lib/x.ts`, `Read ${base}/lib/y.ts`];
      assert.deepEqual(questions(made), [x, y, y, `List ${base}/lib`], mode);
      const [first] = made.asks;
      assert.match(JSON.stringify(first), /lib\/x\.ts: outside the workspace/);
      const told = (at: number) => JSON.stringify(model.requests[at]?.messages.at(-1));
      assert.match(told(1), /one.*The user rejected this call/);
      assert.match(told(2), /one.*two/);
    }
    const chat = scriptedModel([calls(read("../lib/x.ts")), says("done")]);
    const made = await talk({ ...setup, cwd: join(base, "w"), models: [chat], mode: "chat" });
    await made.session.prompt("go").result;
    assert.deepEqual(questions(made), []);
  },
);

inEveryVersion(
  "a secret outside the roots can be allowed once only",
  { "w/a": "1", "lib/.env": "KEY=1" },
  async (setup) => {
    const model = scriptedModel([calls(["read", { path: "../lib/.env" }]), says("done")]);
    const made = await talk({
      ...setup,
      cwd: join(realpathSync(setup.cwd), "w"),
      models: [model],
      mode: "code",
    });
    await made.session.prompt("go").result;
    assert.deepEqual(
      made.asks[0]?.options.map(({ kind }) => kind),
      ["allow_once", "reject_once"],
    );
  },
);
