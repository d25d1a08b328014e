// What an app must not say is refused at once, on either version, before anything leaves.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  inEveryVersion,
  initialize,
  openSession,
  type Pair,
  quiet,
  text,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { storedEntries } from "../../../test/support/stored-entries.ts";
import type { AgentSession, OutgoingUpdate, SessionConfigOption, Turn } from "../../index.ts";
import type { AvailableCommand } from "../../model.ts";
import { memoryStore } from "../../store.ts";

/** Runs the body in a turn of an agent whose client offers everything. */
async function inTurn(
  pair: Pair,
  body: (turn: Turn) => Promise<void> | void,
  answers: { elicit?: () => unknown } = {},
) {
  let failure: unknown;
  const released: string[] = [];
  const talk = await openSession(
    pair,
    {
      async prompt(turn) {
        try {
          await body(turn);
        } catch (error) {
          failure = error;
        }
      },
    },
    {
      elicit: (answers.elicit ?? (() => ({ action: "accept" }))) as never,
      requestPermission: (ask) => ask.options[0]?.optionId,
      terminals: {
        create: async ({ command }) => ({
          terminalId: `t-${command}`,
          output: async () => ({ output: "", truncated: false }),
          waitForExit: async () => ({ exitCode: 0 }),
          kill: async () => undefined,
          release: async () => void released.push(command),
        }),
      },
    },
  );
  const outcome = await talk.session.prompt("x").result;
  if (failure !== undefined) throw failure;
  assert.equal(outcome.stopReason, "end_turn");
  return { ...talk, released };
}

const select = (more: object = {}): SessionConfigOption => ({
  configId: "o",
  name: "O",
  type: "select",
  currentValue: "a",
  options: [
    { value: "a", name: "A" },
    { value: "b", name: "B" },
  ],
  ...more,
});

inEveryVersion(
  "A77 A84 options that no client could offer are refused, and the old ones stay",
  async (pair) => {
    const bad: [SessionConfigOption[], RegExp][] = [
      [[select(), select()], /configId "o" twice/],
      [[select({ options: [] })], /options must be at least 1 item/],
      [[select({ currentValue: "z" })], /"z", which is not one of "a", "b"/],
      [
        [
          select({
            options: [
              { value: "a", name: "A" },
              { value: "a", name: "B" },
            ],
          }),
        ],
        /value "a" twice/,
      ],
      [
        [
          select({
            options: ["g", "h"].map((groupId) => ({
              groupId,
              name: groupId,
              options: [{ value: "a", name: "A" }],
            })),
          }),
        ],
        /value "a" twice/,
      ],
    ];
    const { updates } = await inTurn(pair, (turn) => {
      turn.session.setConfigOptions([select()]);
      for (const [options, message] of bad) {
        assert.throws(() => turn.session.setConfigOptions(options), message);
        const update = { sessionUpdate: "config_option_update" as const, configOptions: options };
        assert.throws(() => turn.update(update), message);
      }
      assert.equal(turn.session.configOption("o"), "a");
      turn.session.setConfigOptions([
        select({ options: [{ groupId: "g", name: "G", options: [{ value: "a", name: "A" }] }] }),
      ]);
    });
    assert.equal(updates.filter(({ sessionUpdate }) => sessionUpdate === "config_option_update").length, 2);
  },
);

inEveryVersion("A85 commands have names that are unique and one word", async (pair) => {
  const named = (...names: string[]) =>
    names.map((name): AvailableCommand => ({ type: "command", name, description: "d" }));
  const { session } = await inTurn(pair, (turn) => {
    turn.session.setAvailableCommands(named("go"));
    for (const names of [["a b"], ["a\tb"], ["\u00a0"], [""], ["go", "go"]]) {
      assert.throws(() => turn.session.setAvailableCommands(named(...names)), TypeError, names.join());
      const update = {
        sessionUpdate: "available_commands_update" as const,
        availableCommands: named(...names),
      };
      assert.throws(() => turn.update(update), TypeError);
    }
  });
  await quiet();
  assert.deepEqual(session.availableCommands, named("go"));
});

inEveryVersion(
  "A91 a permission has options with ids of their own, and a command an absolute place",
  async (pair) => {
    const allow = { optionId: "a", name: "A", kind: "allow_once" as const };
    await inTurn(pair, async (turn) => {
      const ask = { title: "?", options: [allow] };
      assert.deepEqual(await turn.requestPermission(ask), allow);
      assert.ok(await turn.requestPermission("no options: the usual ones"));
      await assert.rejects(turn.requestPermission({ ...ask, options: [allow, allow] }), /optionId "a" twice/);
      const command = (cwd: string) => ({ type: "command" as const, command: "ls", cwd });
      await assert.rejects(turn.requestPermission({ ...ask, subject: command("here") }), TypeError);
      assert.ok(await turn.requestPermission({ ...ask, subject: command("/project") }));
    });
  },
);

inEveryVersion(
  "A96 A98 a URL elicitation has an id of its own while it is open, and no credentials in its URL",
  async (pair) => {
    const url = (elicitationId: string, address = "https://example.com/x") =>
      ({ mode: "url", message: "Log in", elicitationId, url: address }) as const;
    await inTurn(pair, async (turn) => {
      await turn.elicit(url("e"));
      await assert.rejects(turn.elicit(url("e")), /is open/);
      await turn.elicit(url("other"));
      turn.session.completeElicitation("e");
      assert.throws(() => turn.session.completeElicitation("e"), /no elicitation "e"/);
      assert.throws(() => turn.session.completeElicitation("nobody's"), TypeError);
      await turn.elicit(url("e"));
      await assert.rejects(turn.elicit(url("f", "https://me:secret@example.com")), /no password/);
      await assert.rejects(turn.elicit(url("f", "/relative")), /absolute/);
    });
  },
);

inEveryVersion(
  "A93 the end of a URL elicitation is said to the client that was asked, and to no other",
  async (pair) => {
    let there: AgentSession | undefined;
    await inTurn(pair, async (turn) => {
      there = turn.session;
      await turn.elicit({ mode: "url", message: "m", elicitationId: "e", url: "https://example.com" });
    });
    await inTurn(pair, (turn) => assert.throws(() => turn.session.completeElicitation("e"), TypeError));
    there?.completeElicitation("e");
  },
);

inEveryVersion(
  "A99 a form that is declined, cancelled or failed is no consent, and the turn goes on",
  async (pair) => {
    const requestedSchema = { type: "object" as const, properties: {} };
    const form = { mode: "form", message: "?", requestedSchema } as const;
    for (const [answer, action] of [
      [{ action: "decline" }, "decline"],
      [{ action: "cancel" }, "cancel"],
    ] as const) {
      await inTurn(pair, async (turn) => assert.equal((await turn.elicit(form)).action, action), {
        elicit: () => answer,
      });
    }
    const failing = () => {
      throw new Error("the form broke");
    };
    await inTurn(pair, (turn) => assert.rejects(turn.elicit(form), { code: -32603 }), { elicit: failing });
  },
);

inEveryVersion(
  "A101 a form without its type or its properties is refused, and nobody is asked",
  async (pair) => {
    let asked = 0;
    const elicit = () => {
      asked++;
      return { action: "accept" };
    };
    const body = async (turn: Turn) => {
      for (const requestedSchema of [
        {},
        { type: "object" },
        { properties: {} },
        { type: "array", properties: {} },
      ]) {
        const form = { mode: "form", message: "?", requestedSchema } as never;
        await assert.rejects(turn.elicit(form), TypeError, JSON.stringify(requestedSchema));
      }
    };
    await inTurn(pair, body, { elicit });
    assert.equal(asked, 0);
  },
);

inEveryVersion(
  "A105 a compaction begins, grows and ends once, with a summary or an error where it belongs",
  async (pair) => {
    const say = (status: string, more: object = {}): OutgoingUpdate =>
      ({ sessionUpdate: "compaction_update", compactionId: "c", status, ...more }) as OutgoingUpdate;
    const grow: OutgoingUpdate = {
      sessionUpdate: "compaction_summary_chunk",
      compactionId: "c",
      content: text("so far"),
    };
    const { updates } = await inTurn(pair, (turn) => {
      assert.throws(() => turn.update(grow), TypeError);
      void turn.update(say("in_progress"));
      void turn.update(grow);
      assert.throws(() => turn.update(say("in_progress", { summary: [text("x")] })), /summary/);
      assert.throws(() => turn.update(say("completed", { error: "x" })), /error/);
      void turn.update(say("completed", { summary: [text("all")] }));
      assert.throws(() => turn.update(say("failed", { error: "x" })), /one final status/);
      assert.throws(() => turn.update(grow), TypeError);
    });
    const kinds = updates
      .map(({ sessionUpdate }) => sessionUpdate)
      .filter((kind) => kind.startsWith("compaction"));
    assert.deepEqual(kinds, ["compaction_update", "compaction_summary_chunk", "compaction_update"]);
  },
);

inEveryVersion("A107 terminals have absolute places and ids that are never used again", async (pair) => {
  await inTurn(pair, (turn) => {
    const ids = [turn.terminal({ command: "a" }), turn.terminal({ command: "b" })];
    assert.notEqual(ids[0]?.terminalId, ids[1]?.terminalId);
    assert.throws(() => turn.terminal({ cwd: "here" }), /absolute/);
    const update = (more: object): OutgoingUpdate =>
      ({ sessionUpdate: "terminal_update", terminalId: "mine", ...more }) as OutgoingUpdate;
    void turn.update(update({ command: "a" }));
    void turn.update(update({ exitStatus: { exitCode: 0 } }));
    void turn.update({ sessionUpdate: "terminal_output_chunk", terminalId: "mine", data: "bGF0ZQ==" });
    assert.throws(() => turn.update(update({ command: "b" })), /has exited/);
  });
});

test("A102 E18 an action that nobody knows is a cancel", async () => {
  for (const version of [1, 2] as const) {
    const actions: string[] = [];
    const requestedSchema = { type: "object" as const, properties: {} };
    const { call } = withScriptedClient(
      {
        async prompt(turn) {
          actions.push((await turn.elicit({ mode: "form", message: "?", requestedSchema })).action);
        },
      },
      { "elicitation/create": () => ({ action: "_perhaps", content: {} }) },
    );
    const capabilities = { elicitation: { form: {} } };
    await call("initialize", { ...initialize(version), clientCapabilities: capabilities, capabilities });
    const { sessionId } = (await call("session/new", { cwd: "/", mcpServers: [] })) as { sessionId: string };
    await call("session/prompt", { sessionId, prompt: [text("x")] });
    await quiet();
    assert.deepEqual(actions, ["cancel"]);
  }
});

inEveryVersion("A100 a form is taken for filled in only when it has what it asks for", async (pair) => {
  const requestedSchema = {
    type: "object" as const,
    required: ["name"],
    properties: {
      name: { type: "string" as const, minLength: 2, maxLength: 4 },
      size: { type: "string" as const, enum: ["s", "m"] },
      age: { type: "integer" as const, minimum: 0, maximum: 150 },
      ratio: { type: "number" as const },
      yes: { type: "boolean" as const },
      tags: {
        type: "array" as const,
        maxItems: 2,
        items: {
          anyOf: [
            { const: "x", title: "X" },
            { const: "y", title: "Y" },
          ],
        },
      },
    },
  };
  const good = [{ name: "👩‍👩" }, { name: "abc", size: "m", age: 3, ratio: 0.5, yes: false, tags: ["y"] }];
  const bad: object[] = [
    {},
    { name: "a" },
    { name: "abcde" },
    { name: 7 },
    { name: "abc", size: "xl" },
    { name: "abc", age: 1.5 },
    { name: "abc", age: 151 },
    { name: "abc", ratio: "half" },
    { name: "abc", yes: "yes" },
    { name: "abc", tags: "x" },
    { name: "abc", tags: ["z"] },
    { name: "abc", tags: ["x", "y", "x"] },
    { name: "abc", more: 1 },
  ];
  const contents = [...good, ...bad];
  const body = async (turn: Turn) => {
    for (const content of contents) {
      const answer = await turn.elicit({ mode: "form", message: JSON.stringify(content), requestedSchema });
      const isGood = good.includes(content as never);
      assert.equal(answer.action, isGood ? "accept" : "cancel", JSON.stringify(content));
    }
  };
  const { log } = await inTurn(pair, body, {
    elicit: ((ask: { message: string }) => ({ action: "accept", content: JSON.parse(ask.message) })) as never,
  });
  assert.equal(log.filter((line) => line.includes("not filled in")).length, bad.length);
});

test("A87 A88 version 1's terminals are attached before they are released, and all are released", async () => {
  const { released } = await inTurn({ editions: ["v1"], version: 1 }, async (turn) => {
    const create = (command: string) => turn.client.terminals?.create({ command });
    const [shown, late, killed] = [await create("shown"), await create("late"), await create("killed")];
    assert.ok(shown && late && killed);
    await turn.tool({ title: "T" }, async (tool) => {
      await tool.add({ type: "terminal", terminalId: shown.terminalId });
      await shown.release();
      // it has been attached: saying so again changes nothing
      await tool.add("more");
      await late.release();
      const content = { type: "terminal", terminalId: late.terminalId } as const;
      assert.throws(() => tool.add(content), /before it is released/);
      await killed.kill();
    });
  });
  await quiet();
  assert.deepEqual(released, ["shown", "late", "killed"]);
});

inEveryVersion("a question that fails is an answered one in the history", async (pair) => {
  const store = memoryStore();
  const failing = () => {
    throw new Error("no");
  };
  const { session } = await openSession(
    pair,
    {
      session: { store },
      async prompt(turn) {
        const requestedSchema = { type: "object" as const, properties: {} };
        await assert.rejects(turn.elicit({ mode: "form", message: "?", requestedSchema }));
        // what nobody could be asked is not history
        await assert.rejects(
          turn.requestPermission({ title: 7 as never, options: [] }),
          /\/title must be string, got number/,
        );
      },
    },
    { elicit: failing as never },
  );
  assert.equal((await session.prompt("x").result).stopReason, "end_turn");
  const asked: string[] = [];
  for await (const entry of storedEntries(store, session.sessionId))
    if (entry.kind === "ask" || entry.kind === "answer") asked.push(entry.kind);
  assert.deepEqual(asked, ["ask", "answer"]);
});
