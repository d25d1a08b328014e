// The demo and its agent through the launcher, as somebody who has just installed it would start them.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const launcher = join(import.meta.dirname, "../../bin/parley");
const temporary = mkdtempSync(join(tmpdir(), "parley-demo-test-"));
after(() => rmSync(temporary, { recursive: true, force: true }));
const patience = { timeout: 120_000 };

function parley(args: readonly string[], options: { input?: string; env?: NodeJS.ProcessEnv } = {}) {
  const env = { ...process.env, PARLEY_HOME: join(temporary, "home"), ...options.env };
  return spawnSync(launcher, args, { encoding: "utf8", cwd: temporary, env, input: options.input ?? "" });
}

test("a reader that stops early, such as head, gets no stack, and nothing is left behind", patience, () => {
  const env = { ...process.env, TMPDIR: mkdtempSync(join(temporary, "early-")) };
  const script = `{ "${launcher}" demo; echo "exit $?" >&2; } | head -n 2`;
  const { stdout, stderr } = spawnSync("/bin/sh", ["-c", script], { encoding: "utf8", env });
  assert.match(stdout, /^\n# client: /);
  assert.equal(stderr, "exit 141\n");
  assert.deepEqual(readdirSync(env.TMPDIR), []);
});

test("the demo shows a conversation under headings and exits with 0", patience, () => {
  const { status, stdout, stderr } = parley(["demo"]);
  assert.equal(status, 0, stderr);
  assert.deepEqual(
    [...stdout.matchAll(/^# (.*)$/gm)].map(([, heading]) => heading?.replaceAll(/\d+/g, "…")),
    [
      "client: this process, pid …; agent: pid …; between them: stdio",
      "the handshake, and a session",
      "a turn: plan, thought, tool call, file, permission, answer",
      "a turn that is cancelled",
      "bad input: each gets its error, and the connection stays usable",
    ],
  );
  assert.match(stdout, /client → agent {2}initialize #\S+ /);
  assert.match(stdout, /client ← agent {2}answer to session\/prompt #\S+ {2}stopReason: "cancelled"/);
  assert.match(stdout, /client ← agent {2}error for \S+ .*-32601/);
  assert.match(stdout, /\d+ messages crossed; .* exit code 0\.$/m);
  // not a terminal, so no colours
  assert.equal(stdout.includes("\u001b"), false);
});

test("demo --json is one object per line, and the last says how it ended", patience, () => {
  const { status, stdout, stderr } = parley(["demo", "--json"]);
  assert.equal(status, 0, stderr);
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const end = lines.pop();
  assert.deepEqual(end, { v: 1, type: "end", messages: lines.length, exitCode: 0 });
  for (const line of lines) {
    assert.deepEqual(Object.keys(line), ["v", "type", "from", "ms", "text"]);
    assert.equal(line.type, "message");
  }
});

test(
  "demo --pace with something else than milliseconds exits with 2 and says what it takes",
  patience,
  () => {
    const { status, stdout, stderr } = parley(["demo", "--pace", "soon"]);
    assert.deepEqual([status, stdout], [2, ""]);
    assert.match(stderr, /--pace takes milliseconds from 0 to 99999, got soon/);
  },
);

test(
  "what is written to the agent's descriptor 1 past all guards does not reach the wire (T3, G9)",
  patience,
  () => {
    const stray = join(temporary, "stray.mjs");
    // before the agent has opened anything, and while it serves
    writeFileSync(
      stray,
      `import { writeSync } from "node:fs";
     writeSync(1, "stray print at the start\\n");
     setImmediate(() => writeSync(1, "stray print later\\n"));`,
    );
    const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 1 } };
    const { status, stdout, stderr } = parley(["demo-agent"], {
      input: `${JSON.stringify(initialize)}\n`,
      env: { NODE_OPTIONS: `--import=${stray}` },
    });
    assert.equal(status, 0, stderr);
    assert.partialDeepStrictEqual(JSON.parse(stdout), {
      jsonrpc: "2.0",
      id: 1,
      result: { protocolVersion: 1 },
    });
    assert.equal(stdout.indexOf("\n"), stdout.length - 1);
    assert.match(stderr, /stray print at the start\n.*stray print later/s);
  },
);
