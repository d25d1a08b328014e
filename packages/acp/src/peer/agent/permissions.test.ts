// Permission at an agent: a no is never taken for a yes, and a call that waits for the user does not run.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  inEveryVersion,
  initialize,
  openSession,
  type Prompted,
  quiet,
  rejects,
  statuses,
  text,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import {
  type AgentSession,
  type PermissionOption,
  type PermissionRequest,
  RequestError,
  type ToolCallHandle,
} from "../../index.ts";

const always: readonly PermissionOption[] = [
  { optionId: "yes", name: "Yes", kind: "allow_always" },
  { optionId: "never", name: "Never", kind: "reject_always" },
];

/** One turn with a client by hand. Each line is a status, a question, or a word of the agent. */
async function asked(version: 1 | 2, prompt: Prompted, answer: (params: object) => unknown) {
  const lines: string[] = [];
  const { call, peer, log } = withScriptedClient(
    { prompt },
    {
      "session/request_permission"(params) {
        lines.push("asked");
        return answer(params);
      },
      "session/update"({ update }) {
        const { status, content } = update as { status?: string; content?: { text?: string } };
        if (status !== undefined) lines.push(status);
        else if (content?.text !== undefined) lines.push(content.text);
      },
    },
  );
  await call("initialize", initialize(version));
  const opened = await call("session/new", { cwd: "/project", mcpServers: [] });
  const { sessionId } = opened as { sessionId: string };
  const cancel = () => peer.notify("session/cancel", { sessionId });
  const ended = call("session/prompt", { sessionId, prompt: [text("go")] });
  ended.catch(() => undefined);
  return { lines, ended, cancel, log };
}

const choose = (optionId: string) => () => ({ outcome: { outcome: "selected", optionId } });

test("whatever is not the user's yes is falsy, so that `if (await turn.requestPermission(…))` does nothing", async () => {
  const answers: Record<string, (params: object) => unknown> = {
    "a rejection": choose("reject_once"),
    "an option that was not offered": choose("sudo"),
    "a dismissed question": () => ({ outcome: { outcome: "cancelled" } }),
    "an unknown outcome": () => ({ outcome: { outcome: "approved" } }),
  };
  for (const version of [1, 2] as const) {
    for (const [what, answer] of Object.entries(answers)) {
      let deleted = 0;
      const prompt: Prompted = async (turn) => {
        if (await turn.requestPermission("Delete it?")) deleted += 1;
        await turn.tool({ title: "Delete" }, async (tool) => {
          if (await tool.requestPermission()) deleted += 1;
        });
      };
      const { lines, ended } = await asked(version, prompt, answer);
      await ended;
      while (lines.filter((line) => line === "asked").length < 2) await quiet();
      await quiet();
      assert.equal(deleted, 0, `${what} (v${version})`);
    }
  }
});

test("a call with permission: true is pending until the user says yes, and then runs", async () => {
  for (const version of [1, 2] as const) {
    const prompt: Prompted = async (turn) => {
      const result = await turn.tool({ title: "Delete", permission: true }, () => "deleted");
      await turn.say(result);
    };
    const { lines, ended } = await asked(version, prompt, choose("allow_once"));
    await ended;
    await quiet();
    assert.deepEqual(lines, ["pending", "asked", "in_progress", "completed", "deleted"]);
  }
});

test("a call with permission: true never runs after a no, says why, and rejects with permission_denied", async () => {
  for (const version of [1, 2] as const) {
    let runs = 0;
    const errors: unknown[] = [];
    const prompt: Prompted = async (turn) => {
      const call = turn.tool({ title: "Delete", permission: true }, () => runs++);
      errors.push(await rejects(call, -32060, { reason: "permission_denied" }));
      await turn.say("I leave it");
    };
    const { lines, ended } = await asked(version, prompt, choose("reject_once"));
    await ended;
    await quiet();
    // version 1 has no status "cancelled"
    const end = version === 1 ? "failed" : "cancelled";
    assert.deepEqual(lines, ["pending", "asked", end, "I leave it"]);
    assert.equal(runs, 0);
    assert.match(String(errors[0]), /this tool call was not allowed/);
  }
});

inEveryVersion(
  "the question of a call has the options and the text of its agent, and onAnswer gets what the user chose",
  async (pair) => {
    const asks: PermissionRequest[] = [];
    const chosen: string[] = [];
    const onAnswer = ({ kind }: PermissionOption) => void chosen.push(String(kind));
    const { session, updates } = await openSession(
      pair,
      {
        async prompt(turn) {
          const permission = { options: always, description: "for ever", onAnswer };
          await turn.tool({ title: "Run", permission }, () => undefined).catch(() => undefined);
          await turn.tool({ title: "Run" }, (tool) => tool.requestPermission(permission));
          await turn.requestPermission({ title: "Run?", ...permission });
        },
      },
      {
        requestPermission(ask) {
          asks.push(ask);
          return asks.length === 2 ? "yes" : "never";
        },
      },
    );
    assert.equal((await session.prompt("go").result).stopReason, "end_turn");
    assert.deepEqual(chosen, ["reject_always", "allow_always", "reject_always"]);
    assert.deepEqual(
      asks.map(({ options }) => options.map(({ optionId }) => optionId)),
      Array(3).fill(["yes", "never"]),
    );
    if (pair.version === 2) assert.equal(asks[0]?.description, "for ever");
    assert.match(JSON.stringify(updates), /this tool call was not allowed/);
  },
);

test("a cancel while the question of a call is open ends the turn as cancelled, and the call does not run", async () => {
  for (const version of [1, 2] as const) {
    let runs = 0;
    const reached = Promise.withResolvers<void>();
    const prompt: Prompted = async (turn) => {
      await turn.tool({ title: "Delete", permission: true }, () => runs++);
    };
    const { lines, ended, cancel } = await asked(version, prompt, () => {
      reached.resolve();
      return new Promise(() => undefined);
    });
    await reached.promise;
    cancel();
    await ended;
    await quiet();
    assert.deepEqual([runs, lines.at(-1)], [0, version === 1 ? "failed" : "cancelled"]);
    if (version === 1) assert.deepEqual(await ended, { stopReason: "cancelled" });
  }
});

test("a call whose user cannot be asked does not run, and its error says so", async () => {
  for (const version of [1, 2] as const) {
    let runs = 0;
    let error: unknown;
    const prompt: Prompted = async (turn) => {
      const call = turn.tool({ title: "Delete", permission: true }, () => runs++);
      error = await rejects(call, -32067);
    };
    const { lines, ended } = await asked(version, prompt, () => {
      throw new Error("no window");
    });
    await ended;
    await quiet();
    assert.deepEqual([runs, lines], [0, ["pending", "asked", "failed"]]);
    assert.match(String(error), /it was not run: the user could not be asked \(.+\)/);
  }
});

inEveryVersion("work in the background asks for permission in the same way", async (pair) => {
  let there: AgentSession | undefined;
  const ran: string[] = [];
  const { session, updates } = await openSession(
    pair,
    {
      session: {
        open(opened) {
          there = opened;
        },
      },
      prompt: () => undefined,
    },
    { requestPermission: ({ title }) => (title === "Good" ? "allow_once" : "reject_once") },
  );
  await session.prompt("x").result;
  assert.ok(there);
  await there.runInBackground({ title: "Good", permission: true }, () => void ran.push("good"));
  const bad = there.runInBackground({ title: "Bad", permission: true }, () => void ran.push("bad"));
  await rejects(bad, -32060);
  await quiet();
  assert.deepEqual(ran, ["good"]);
  const end = pair.version === 1 ? "failed" : "cancelled";
  assert.deepEqual(statuses(updates), ["pending", "in_progress", "completed", "pending", end]);
});

test("a diff or a text that is shown first leaves the call pending until the user has answered (U2)", async () => {
  const change = { path: "/project/a", oldText: "old\n", newText: "new\n" };
  const shown: Record<string, (tool: ToolCallHandle) => Promise<void>> = {
    "a diff": (tool) => tool.diff(change),
    "two diffs": async (tool) => {
      await tool.diff(change);
      await tool.add({ type: "diff", changes: [], ...change });
    },
    "a text": (tool) => tool.add("It will be changed"),
    "a text and a diff": async (tool) => {
      await tool.add("It will be changed");
      await tool.diff(change);
    },
  };
  for (const version of [1, 2] as const) {
    for (const [what, show] of Object.entries(shown)) {
      const prompt: Prompted = async (turn) => {
        await turn.tool({ title: "Edit" }, async (tool) => {
          await show(tool);
          await tool.requestPermission();
        });
      };
      let question = "";
      const { lines, ended } = await asked(version, prompt, (params) => {
        question = JSON.stringify(params);
        return choose("allow_once")();
      });
      await ended;
      await quiet();
      assert.deepEqual(lines, ["pending", "asked", "in_progress", "completed"], what);
      assert.match(question, what.includes("text") ? /It will be changed/ : /"diff"/, "it has what is shown");
    }
  }
});

test("work before the question leaves the call pending while it asks, and output shows that it runs (U2)", async () => {
  for (const version of [1, 2] as const) {
    const work: Prompted = async (turn) => {
      await turn.tool({ title: "Edit" }, async (tool) => {
        await tool.add("I read the file");
        await tool.add("I have read the file");
        await tool.requestPermission();
      });
    };
    const second = await asked(version, work, choose("allow_once"));
    await second.ended;
    await quiet();
    assert.deepEqual(second.lines, [
      "pending",
      "in_progress",
      "pending",
      "asked",
      "in_progress",
      "completed",
    ]);
  }
});

inEveryVersion(
  "a no of the user that a prompt handler lets escape is no failure: its turn ends",
  async (pair) => {
    const failing: Record<string, Prompted> = {
      "an error of the handler": () => {
        throw RequestError.permissionDenied("not on Sundays");
      },
      "an error that only looks like it": (turn) =>
        turn
          .tool({ title: "Delete", permission: true }, () => undefined)
          .catch((error: RequestError) => {
            throw new RequestError("permission_denied", error.message);
          }),
      "an error of a tool that was allowed": (turn) =>
        turn.tool({ title: "Look" }, () => {
          throw RequestError.permissionDenied();
        }),
    };
    const ending: Record<string, Prompted> = {
      "the call itself": (turn) => turn.tool({ title: "Delete", permission: true }, () => undefined),
      "a call in another": (turn) =>
        turn.tool({ title: "Clean", permission: false }, () =>
          turn.tool({ title: "Delete", permission: {} }, () => undefined),
        ),
    };
    const { session, log } = await openSession(
      pair,
      { prompt: (turn) => (failing[turn.text] ?? ending[turn.text])?.(turn) },
      { requestPermission: () => "reject_once" },
    );
    for (const what of Object.keys(failing)) {
      const { stopReason, error } = await session.prompt(what);
      assert.deepEqual([stopReason, error?.kind], ["error", "permission_denied"], what);
    }
    for (const what of Object.keys(ending))
      assert.deepEqual(await session.prompt(what), { stopReason: "end_turn" }, what);
    assert.deepEqual(log, []);
  },
);

inEveryVersion("permission: false runs a call without a question", async (pair) => {
  const { session, updates } = await openSession(
    pair,
    { prompt: (turn) => turn.tool({ title: "Look", permission: false }, () => undefined) },
    { requestPermission: () => assert.fail("nobody is asked") },
  );
  assert.equal((await session.prompt("x")).stopReason, "end_turn");
  assert.deepEqual(statuses(updates), ["pending", "in_progress", "completed"]);
});

inEveryVersion("a permission that is none is refused, and nothing is shown", async (pair) => {
  const { session, updates } = await openSession(pair, {
    async prompt(turn) {
      for (const permission of [null, 0, "yes", [always]]) {
        const start = { title: "T", permission: permission as never };
        assert.throws(
          () => turn.tool(start, () => assert.fail("it ran")),
          /^TypeError: turn\.tool: permission must be true, false or an object/,
        );
      }
      await turn.tool({ title: "U" }, (tool) => {
        const old = tool.requestPermission as (given: unknown) => Promise<unknown>;
        assert.throws(
          () => old.call(tool, always),
          /^TypeError: tool\.requestPermission: expected an object such as \{ description \}, got a list$/,
        );
      });
    },
  });
  assert.equal((await session.prompt("x").result).stopReason, "end_turn");
  assert.equal(statuses(updates).filter((status) => status === "pending").length, 1);
});
