// Tests vetoes: a client's rules forbid calls in every mode, and a malformed answer is a refusal.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  calls,
  inEveryVersion,
  says,
  scriptedModel,
  talk,
  toolStories,
} from "../../test/support/agent-probe.ts";

const meta = { "_parley.dev/veto": true };
const write = (path: string) => ["write", { path, content: "x" }] as const;

inEveryVersion(
  "the client is asked before each thing that the mode allows",
  { "a.txt": "a" },
  async (setup) => {
    const asked: unknown[] = [];
    const model = scriptedModel([
      calls(["read", { path: "a.txt" }], write("b.txt"), write("no.txt")),
      calls(["move", { from: "b.txt", to: "c.txt" }]),
      says("done"),
    ]);
    const { session, updates } = await talk({
      ...setup,
      models: [model],
      mode: "code",
      clientDefinition: {
        _meta: meta,
        extensions: {
          requests: {
            "_parley.dev/veto": (params) => {
              const { effects } = params as { effects: { operation: string; path: string }[] };
              asked.push(
                ...effects.map(({ operation, path }) => `${operation} ${path.slice(setup.cwd.length + 1)}`),
              );
              const isForbidden = effects.some(({ path }) => path.endsWith("no.txt"));
              return { refused: isForbidden ? [{ effect: 0, reason: "my rule" }] : [], restricts: [] };
            },
          },
        },
      },
    });
    await session.prompt("go").result;
    assert.deepEqual(asked, [
      "read a.txt",
      "write b.txt",
      "write no.txt",
      "write b.txt",
      "delete b.txt",
      "write c.txt",
      "delete c.txt",
    ]);
    assert.deepEqual(
      [existsSync(join(setup.cwd, "c.txt")), existsSync(join(setup.cwd, "no.txt"))],
      [true, false],
    );
    assert.match(
      JSON.stringify(model.requests[1]?.messages),
      /The user's rules do not allow this \(my rule\)/,
    );
    assert.match(JSON.stringify(updates), /It was not allowed: my rule/);
    const end = setup.version === 1 ? "failed" : "cancelled";
    assert.ok(toolStories(updates).includes(`Create no.txt: pending > ${end}`), "it never was in progress");
  },
);

inEveryVersion("a malformed or missing answer is not a consent", {}, async (setup) => {
  const answers: unknown[] = [null, {}, { refused: [] }, { refused: "no", restricts: [] }, new Error("no")];
  for (const answer of answers) {
    const model = scriptedModel([calls(write("b.txt")), says("done")]);
    const { session } = await talk({
      ...setup,
      models: [model],
      mode: "code",
      clientDefinition: {
        _meta: meta,
        extensions: {
          requests: {
            "_parley.dev/veto": () => {
              if (answer instanceof Error) throw answer;
              return answer;
            },
          },
        },
      },
    });
    await session.prompt("go").result;
    assert.equal(existsSync(join(setup.cwd, "b.txt")), false, JSON.stringify(answer));
    assert.match(JSON.stringify(model.requests[1]?.messages), /the client has to agree/);
  }
});

inEveryVersion("a client without vetoes is not asked", {}, async (setup) => {
  const model = scriptedModel([calls(write("b.txt")), says("done")]);
  const { session } = await talk({ ...setup, models: [model], mode: "code" });
  await session.prompt("go").result;
  assert.ok(existsSync(join(setup.cwd, "b.txt")));
});

for (const mode of ["code", "ask"] as const) {
  inEveryVersion(
    `an edit reveals nothing of a file that it must not read, in mode ${mode}`,
    { "a.txt": "key=SECRET\n" },
    async (setup) => {
      const edit = (oldText: string) =>
        ["edit", { path: "a.txt", edits: [{ oldText, newText: "other" }] }] as const;
      const model = scriptedModel([calls(edit("key="), edit("kye="), edit("key=\n")), says("done")]);
      const { session, updates, asks } = await talk({
        ...setup,
        models: [model],
        mode,
        answers: ["allow_once", "allow_once", "allow_once"],
        clientDefinition: {
          _meta: meta,
          extensions: {
            requests: {
              "_parley.dev/veto": (params) => {
                const { effects } = params as { effects: { operation: string }[] };
                const refused = effects.flatMap(({ operation }, effect) =>
                  operation === "read" ? [{ effect, reason: "my rule" }] : [],
                );
                return { refused, restricts: ["read"] };
              },
            },
          },
        },
      });
      await session.prompt("go").result;
      assert.deepEqual([asks, readFileSync(join(setup.cwd, "a.txt"), "utf8")], [[], "key=SECRET\n"]);
      const told = JSON.stringify(model.requests[1]?.messages.at(-1));
      assert.equal(told.match(/The user's rules do not allow this \(my rule\)/g)?.length, 3);
      assert.doesNotMatch(told + JSON.stringify(updates), /SECRET/);
    },
  );
}
