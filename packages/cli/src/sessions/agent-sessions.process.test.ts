// The sessions that an agent has by itself: listed, marked where the history has them, and gone on with.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { AgentScenario } from "@parley/conformance/testing";
import { eventsOf, patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();
const elsewhere = join(probe.folder, "elsewhere");
mkdirSync(elsewhere);
const vendor: Partial<AgentScenario> = {
  name: "vendor-agent",
  editions: ["v1"],
  sessions: [
    { sessionId: "vendor-1", cwd: elsewhere, title: "Begun in an editor" },
    { sessionId: "vendor-2", cwd: probe.cwd, title: "\u001b[2JAnother" },
  ],
  otherwise: [{ say: "gone on" }],
};

interface Listing {
  readonly data: {
    readonly complete: boolean;
    readonly sessions: readonly { sessionId: string; session?: string; title?: string; cwd: string }[];
  };
}

async function listed(command: readonly string[], ...args: string[]): Promise<Listing["data"]> {
  const ran = await probe.parley(["sessions", "list", "--json", ...args, "--", ...command]);
  assert.equal(ran.status, 0, ran.stderr + ran.stdout);
  return (JSON.parse(ran.stdout) as Listing).data;
}

test(
  "an agent's own sessions are listed, gone on with by their id, and marked in the list afterwards",
  patience,
  async () => {
    const command = probe.agent(vendor);
    const { stdout } = await probe.parley(["sessions", "list", "--", ...command]);
    assert.match(stdout, /^ {2}vendor-1 +\S+ +\S*elsewhere +Begun in an editor$/m);
    assert.match(stdout, /^ {2}vendor-2 .*Another$/m);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    assert.doesNotMatch(stdout, /\u001b/);

    const run = (prompt: string, ...args: string[]) =>
      probe.parley(["run", "--session", "vendor-1", "--json", ...args, prompt, "--", ...command]);
    const first = await run("one");
    assert.equal(first.status, 0, first.stdout);
    const start = eventsOf(first).find(({ type }) => type === "start");
    assert.deepEqual(
      [start?.["sessionId"], start?.["resumed"], start?.["cwd"], start?.["name"]],
      ["vendor-1", true, elsewhere, undefined],
    );
    const again = eventsOf(await run("two")).find(({ type }) => type === "start");
    assert.equal(again?.["session"], start?.["session"], "it is one session in the history");

    const { sessions } = await listed(command);
    assert.equal(sessions.find(({ sessionId }) => sessionId === "vendor-1")?.session, start?.["session"]);
    assert.match((await probe.parley(["sessions", "list", "--", ...command])).stdout, /^\* vendor-1 /m);
    const kept = await probe.parley(["sessions", "list"]);
    assert.match(kept.stdout, /vendor-agent +\S*elsewhere +Begun in an editor\n$/);
    const moved = await run("three", "--cwd", probe.cwd);
    assert.deepEqual([moved.status, /is in .*elsewhere, not in/.test(moved.stdout)], [2, true]);
  },
);

test("only those of a directory are listed, also by an agent that lists all", patience, async () => {
  const all = [elsewhere, probe.cwd].map((cwd, at) => ({ sessionId: `s${at}`, cwd }));
  const wire = { replies: [{ method: "session/list", result: { sessions: all } }] };
  const { sessions } = await listed(probe.agent({ ...vendor, wire }), "-C", elsewhere);
  assert.deepEqual(
    sessions.map(({ cwd }) => cwd),
    [elsewhere],
  );
});

test("lists are read page by page, as far as was asked, and not in a circle", patience, async () => {
  const page = (nth: number, nextCursor?: string) => ({
    method: "session/list",
    nth,
    result: {
      sessions: [1, 2].map((at) => ({ sessionId: `page-${nth}-${at}`, cwd: probe.cwd })),
      ...(nextCursor === undefined ? {} : { nextCursor }),
    },
  });
  const replies = [page(1, "a"), page(2, "b"), page(3, "a"), page(4)];
  const command = probe.agent({ ...vendor, wire: { replies } });
  const whole = await listed(command);
  assert.deepEqual([whole.sessions.length, whole.complete], [6, true]);
  const part = await listed(command, "-n", "3");
  assert.deepEqual(
    [part.sessions.map(({ sessionId }) => sessionId), part.complete],
    [["page-1-1", "page-1-2", "page-2-1"], false],
  );
});

test(
  "a name that nobody knows begins a session, which is said; the agent is called what it calls itself",
  patience,
  async () => {
    const command = probe.agent(vendor);
    const { stderr, status } = await probe.parley(["run", "-s", "vendor-3", "x", "--", ...command]);
    assert.equal(status, 0);
    assert.match(stderr, /^parley: no session vendor-3 yet: starting a new one with this name\n$/);
    const again = await probe.parley(["run", "-s", "vendor-3", "x", "--", ...command]);
    assert.doesNotMatch(again.stderr, /no session vendor-3/);
    const { stdout } = await probe.parley(["sessions", "list"]);
    assert.match(stdout, /vendor-agent .*vendor-3: x/);
    assert.doesNotMatch(stdout, / node /);
  },
);

test("an agent that lists nothing says so", patience, async () => {
  const wire = {
    replies: [
      { method: "initialize", patch: { agentCapabilities: { sessionCapabilities: { list: null } } } },
    ],
  };
  const command = probe.agent({ ...vendor, wire });
  const listing = await probe.parley(["sessions", "list", "--", ...command]);
  assert.equal(listing.status, 1);
  assert.match(
    listing.stderr,
    /does not support listing sessions\nparley: parley sessions list shows those in the history\n$/,
  );
  const { stderr } = await probe.parley(["run", "-s", "vendor-9", "x", "--", ...command]);
  assert.match(
    stderr,
    /no session vendor-9 yet in the history, and node does not list its own: starting a new one/,
  );
});
