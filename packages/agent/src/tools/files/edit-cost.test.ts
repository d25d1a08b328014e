// Counts what an edit costs: how often the file is opened for reading, and how often the client is asked.

import assert from "node:assert/strict";
import fs, { constants, readFileSync, realpathSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Files } from "@parley/acp";
import { localFiles } from "@parley/acp/node";
import {
  type Answer,
  calls,
  inEveryVersion,
  says,
  scriptedModel,
  talk,
  temporaryFolder,
} from "../../../test/support/agent-probe.ts";
import type { ModelEvent } from "../../model/model.ts";

/** O_PATH. A descriptor that is opened with it cannot be read. */
const pathOnly = 0o10000000;

/** Records who opens one of the files for reading. It watches the functions of Node that open files. */
function openings(t: TestContext, paths: readonly string[]): string[] {
  const found: string[] = [];
  let isInside = false;
  const note = (given: unknown, flags: unknown): void => {
    const isRead =
      typeof flags === "number"
        ? (flags & pathOnly) === 0 && (flags & (constants.O_WRONLY | constants.O_RDWR)) !== constants.O_WRONLY
        : !/^[wa]x?$/.test(String(flags));
    if (!isRead) return;
    const opened = realPath(String(given));
    if (opened !== undefined && paths.includes(opened))
      found.push(
        `${/packages\/review\//.test(new Error().stack ?? "") ? "undo" : "tool"} ${basename(opened)}`,
      );
  };
  const watch = (object: object, name: string, flagsAt?: number): void => {
    const functions = object as Record<string, (...given: unknown[]) => unknown>;
    const inner = functions[name]!;
    t.mock.method(functions, name, function (this: unknown, ...given: unknown[]) {
      if (isInside) return inner.apply(this, given);
      note(given[0], flagsAt === undefined ? "r" : (given[flagsAt] ?? "r"));
      isInside = true;
      try {
        return inner.apply(this, given);
      } finally {
        isInside = false;
      }
    });
  };
  for (const name of ["open", "openSync"]) watch(fs, name, 1);
  for (const name of ["readFile", "readFileSync", "copyFile", "copyFileSync", "createReadStream"])
    watch(fs, name);
  watch(fs.promises, "open", 1);
  for (const name of ["readFile", "copyFile"]) watch(fs.promises, name);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return found;
}

/** The conversation edits a file that was read, then one that was not, and then overwrites a file. */
inEveryVersion(
  "an edit reads the file twice, besides the copy for undo, and asks the client once",
  { "a.txt": "one\r\ntwo\r\n", "b.txt": "\ufeffone\r\n" },
  async (setup) => {
    const [a, b] = [join(setup.cwd, "a.txt"), join(setup.cwd, "b.txt")];
    const opened = openings(setup.context, [a, b]);
    const asked: string[] = [];
    const costs: (readonly string[])[] = [];
    /** Records the cost of the calls before. */
    const then = (events: readonly ModelEvent[]): Answer =>
      async function* () {
        costs.push([...opened.splice(0), ...asked.splice(0)].sort());
        yield* events;
      };
    const afterRead = (events: readonly ModelEvent[]): Answer =>
      async function* () {
        opened.length = asked.length = 0;
        yield* events;
      };
    const edit = (path: string, oldText: string, newText: string) =>
      ["edit", { path, edits: [{ oldText, newText }] }] as const;
    const model = scriptedModel([
      calls(["read", { path: a }]),
      afterRead(calls(edit(a, "one", "1"))),
      then(calls(edit(a, "two", "2\n3"))),
      then(calls(edit(b, "one", "1"))),
      then(calls(["write", { path: a, content: "4\n5\n" }])),
      then(says("done")),
    ]);
    const { session } = await talk({
      ...setup,
      models: [model],
      mode: "code",
      clientDefinition: {
        _meta: { "_parley.dev/veto": true },
        extensions: {
          requests: {
            "_parley.dev/veto": (params) => {
              const { effects } = params as { effects: { operation: string }[] };
              asked.push(`asked to ${effects.map(({ operation }) => operation).join(" and ")}`);
              return { refused: [], restricts: ["read"] };
            },
          },
        },
      },
    });
    await session.prompt("go").result;
    const [inA, inB] = ["tool a.txt", "tool b.txt"];
    assert.deepEqual(costs, [
      // the first change of a turn copies all files
      ["asked to write", inA, inA, "undo a.txt", "undo b.txt"],
      ["asked to write", inA, inA],
      ["asked to read and write", inB, inB],
      ["asked to write", inA, inA],
    ]);
    // line ends and byte order mark are kept, although the file is not read again for them
    assert.deepEqual([readFileSync(a, "utf8"), readFileSync(b, "utf8")], ["4\r\n5\r\n", "\ufeff1\r\n"]);
  },
);

test("if the files of the client are used, it gets three reads and one write for an edit", async (t) => {
  const cwd = temporaryFolder(t, { "a.txt": "one\n" });
  const path = join(cwd, "a.txt");
  const asked: string[] = [];
  const local = localFiles({ roots: [cwd] });
  t.after(() => local.close());
  const files: Files = {
    canRead: true,
    canWrite: true,
    readText(given, options) {
      asked.push("read");
      return local.readText(given, options);
    },
    writeText(given, content, options) {
      asked.push("write");
      return local.writeText(given, content, options);
    },
  };
  const model = scriptedModel([
    calls(["edit", { path, edits: [{ oldText: "one", newText: "1" }] }]),
    says("done"),
  ]);
  const { session } = await talk({
    version: 1,
    cwd,
    models: [model],
    mode: "code",
    clientDefinition: { files },
  });
  await session.prompt("go").result;
  // Editors do not compare versions, so the text is read right before it is replaced. They may change line ends, so it is read again.
  assert.deepEqual(asked, ["read", "read", "write", "read"]);
  assert.equal(readFileSync(path, "utf8"), "1\n");
});

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
