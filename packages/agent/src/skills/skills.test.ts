// Skills and custom commands, as a project and a user keep them.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { AvailableCommand } from "@parley/acp/model";
import {
  calls,
  inEveryVersion,
  says,
  scriptedModel,
  talk,
  temporaryFolder,
} from "../../test/support/agent-probe.ts";
import { frontMatterOf } from "./front-matter.ts";

const release = `---
name: release
description: >
  Make a release:
  version, notes, tag.
---
Bump the version first. See steps.md.
`;

const files = {
  ".git/HEAD": "ref: refs/heads/main\n",
  ".agents/skills/release/SKILL.md": release,
  ".agents/skills/release/steps.md": "1. tag\n",
  ".claude/skills/silent/SKILL.md": "no description, so nobody can know when to use it\n",
  ".claude/commands/git/commit.md":
    "---\ndescription: Write a commit message\nargument-hint: scope\n---\nCommit $1 with care: $ARGUMENTS\n",
  ".agents/commands/shorten.md": "Make it shorter.\n",
  ".agents/commands/help.md": "never seen\n",
};

inEveryVersion(
  "a skill is listed with its description and loaded when the model uses it",
  files,
  async (setup) => {
    const model = scriptedModel([
      calls(["skill", { name: "release" }], ["skill", { name: "rel" }]),
      says("done"),
    ]);
    const { session, asks, end } = await talk({ ...setup, models: [model] });
    await session.prompt("make a release").result;
    const [first, second] = model.requests;
    assert.match(first?.system ?? "", /- release: Make a release: version, notes, tag\./);
    assert.doesNotMatch(first?.system ?? "", /silent|Bump the version/);
    assert.ok(first?.tools.some(({ name }) => name === "skill"));
    const told = JSON.stringify(second?.messages.at(-1));
    assert.match(told, /Bump the version first.*steps\.md/s);
    assert.match(told, /there is no skill \\"rel\\"; the skills are: release/);
    assert.deepEqual(asks, []);
    await end();
  },
);

inEveryVersion(
  "without skills there is no skill tool, and nothing in the system prompt",
  {},
  async (setup) => {
    const model = scriptedModel([says("done")]);
    const { session, end } = await talk({ ...setup, models: [model] });
    await session.prompt("hi").result;
    assert.ok(!model.requests[0]?.tools.some(({ name }) => name === "skill"));
    assert.doesNotMatch(model.requests[0]?.system ?? "", /[Ss]kill/);
    await end();
  },
);

inEveryVersion(
  "the user's own skills and commands count too, and those of the project before them",
  files,
  async (setup) => {
    const userFolder = temporaryFolder(setup.context, {
      "skills/release/SKILL.md": "---\ndescription: the user's own\n---\nmine\n",
      "skills/tidy/SKILL.md": "---\ndescription: Tidy up\n---\nPut things away.\n",
      "commands/shorten.md": "never seen",
    });
    const model = scriptedModel([calls(["skill", { name: "tidy" }]), says("done"), says("short")]);
    const { session, asks, end } = await talk({ ...setup, userFolder, models: [model] });
    await session.prompt("tidy up").result;
    assert.match(model.requests[0]?.system ?? "", /- release: Make a release.*\n- tidy: Tidy up/);
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /Put things away/);
    assert.deepEqual(asks, []);
    await session.prompt("/shorten").result;
    assert.match(JSON.stringify(model.requests[2]?.messages.at(-1)), /Make it shorter/);
    await end();
  },
);

inEveryVersion(
  "the files of the user's own skills are read without a question, and nothing beside them",
  {},
  async (setup) => {
    const linked = temporaryFolder(setup.context, { "SKILL.md": release, "steps.md": "1. tag it\n" });
    const userFolder = temporaryFolder(setup.context, {
      "skills/tidy/SKILL.md": "---\ndescription: Tidy up\n---\nSee boxes.md.\n",
      "skills/tidy/boxes.md": "the red box\n",
      "notes.md": "my notes\n",
    });
    symlinkSync(linked, join(userFolder, "skills/release"));
    symlinkSync(join(userFolder, "notes.md"), join(userFolder, "skills/tidy/leak.md"));
    const at = (path: string) => ({ path: join(userFolder, path) });
    const model = scriptedModel([
      calls(
        ["read", at("skills/tidy/boxes.md")],
        ["list", at("skills/tidy")],
        ["grep", { pattern: "tag", ...at("skills/release") }],
      ),
      calls(["read", at("skills/tidy/leak.md")], ["write", { ...at("skills/tidy/new.md"), content: "x" }]),
      says("done"),
    ]);
    const { session, asks, end } = await talk({ ...setup, userFolder, mode: "code", models: [model] });
    await session.prompt("tidy up").result;
    const outcomes = JSON.stringify(model.requests[1]?.messages.at(-1));
    for (const part of [/the red box/, /boxes\.md/, /1\. tag it/]) assert.match(outcomes, part);
    assert.equal(asks.length, 1, "a link that leads out of it");
    const refused = JSON.stringify(model.requests[2]?.messages.at(-1));
    assert.doesNotMatch(refused, /my notes/);
    assert.match(refused, /outside/);
    await end();
  },
);

function commandsIn(updates: readonly object[]): readonly AvailableCommand[] {
  const lists = updates.flatMap((update) =>
    "availableCommands" in update ? [update.availableCommands as readonly AvailableCommand[]] : [],
  );
  return lists.at(-1) ?? [];
}

inEveryVersion(
  "a Markdown file is a command, and what follows it takes the place of its arguments",
  files,
  async (setup) => {
    const model = scriptedModel([says("one"), says("two"), says("three")]);
    const { session, updates, end, cwd } = await talk({ ...setup, models: [model] });
    await session.prompt('/git:commit "the parser" now').result;
    const sent = (at: number) => JSON.stringify(model.requests[at]?.messages.at(-1));
    assert.match(sent(0), /Commit the parser with care: \\"the parser\\" now/);
    const commands = commandsIn(updates);
    const named = (name: string) => commands.find((each) => each.name === name);
    assert.equal(named("git:commit")?.description, "Write a commit message");
    assert.equal(named("shorten")?.description, "Make it shorter.");
    assert.match(named("help")?.description ?? "", /Explain what this agent can do/);
    // without a place for arguments they follow; a new file counts at once
    writeFileSync(join(cwd, ".agents/commands/later.md"), "Later on.");
    await session.prompt("/later but soon").result;
    assert.match(sent(1), /Later on\.\\n\\nbut soon/);
    await session.prompt("/release 2.0").result;
    assert.match(sent(2), /Bump the version first.*2\.0/s);
    await end();
  },
);

inEveryVersion(
  "a command or skill that a link leads out of the project is not there",
  files,
  async (setup) => {
    const outside = temporaryFolder(setup.context, { "secret.md": "the secret", "s/SKILL.md": release });
    symlinkSync(join(outside, "secret.md"), join(setup.cwd, ".agents/commands/leak.md"));
    symlinkSync(join(outside, "s"), join(setup.cwd, ".agents/skills/leak"));
    const model = scriptedModel([says("one")]);
    const { session, end } = await talk({ ...setup, models: [model] });
    await session.prompt("/leak").result;
    assert.doesNotMatch(JSON.stringify(model.requests), /the secret/);
    assert.equal(model.requests[0]?.system.match(/- release:/g)?.length, 1);
    await end();
  },
);

inEveryVersion(
  "TH17 a skill whose file becomes a pipe or a link after the question is not read",
  { ...files, "secret.txt": "hunter2" },
  async (setup) => {
    const skill = join(setup.cwd, ".agents/skills/release/SKILL.md");
    const swaps = [
      () => execFileSync("mkfifo", [skill]),
      () => symlinkSync(join(setup.cwd, "secret.txt"), skill),
      () => symlinkSync("/etc/hostname", skill),
    ];
    for (const swap of swaps) {
      rmSync(skill);
      writeFileSync(skill, release);
      const model = scriptedModel([calls(["skill", { name: "release" }]), says("done")]);
      const beforeTool = () => {
        rmSync(skill);
        swap();
        return undefined;
      };
      const { session, end } = await talk({ ...setup, models: [model], hooks: { beforeTool } });
      await session.prompt("make a release").result;
      assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /no longer exists/);
      await end();
    }
  },
);

inEveryVersion(
  "TH16 a link of a project makes no command of a file with secrets, nor of a folder elsewhere",
  { ...files, ".env": "TOKEN=hunter2\n", "docs/a.md": "from the docs\n" },
  async (setup) => {
    symlinkSync("../../.env", join(setup.cwd, ".agents/commands/deploy.md"));
    symlinkSync("../../docs", join(setup.cwd, ".agents/commands/docs"));
    symlinkSync("/etc", join(setup.cwd, ".agents/commands/etc"));
    const model = scriptedModel([says("one"), says("two")]);
    const { session, end } = await talk({ ...setup, models: [model] });
    await session.prompt("/deploy now").result;
    await session.prompt("/docs:a").result;
    assert.doesNotMatch(JSON.stringify(model.requests), /hunter2/);
    assert.match(JSON.stringify(model.requests[1]?.messages), /\/deploy now.*from the docs/);
    await end();
  },
);

test("front matter gives its texts, quoted, folded or plain", () => {
  const fields = (yaml: string) => Object.fromEntries(frontMatterOf(`---\n${yaml}\n---\nbody`).fields);
  assert.deepEqual(fields("a: 1\nwhen: use: this  "), { a: "1", when: "use: this" });
  assert.deepEqual(fields(`a: "say \\"hi\\""\nb: 'it''s'\nc:\n  on the\n  next line`), {
    a: 'say "hi"',
    b: "it's",
    c: "on the\nnext line",
  });
  assert.deepEqual(fields("a: >-\n  one\n\n  two\nb: [x]\nc: {d: e}\nf:\n  - g\nh:\n  i: j"), {
    a: "one\n\ntwo",
  });
  assert.equal(frontMatterOf("---\na: b\n---\nbody").body, "body");
  assert.equal(frontMatterOf("# no front matter\n---\n").body, "# no front matter\n---\n");
});

test("TH17 front matter of any shape is read at once", () => {
  const shapes = ["? ", "- ", "[", "{a: ", "? [", "!!str ", `a: b${" ".repeat(30_000)}x\n`, "a: &a [*a]\n"];
  const before = performance.now();
  for (const shape of shapes) frontMatterOf(`---\n${shape.repeat(60_000 / shape.length)}\n---\nbody`);
  assert.ok(performance.now() - before < 1_000);
});
