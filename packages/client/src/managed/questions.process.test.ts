// Forms, addresses, permissions and session setup, through a managed agent.

import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import type { SessionConfigOption, SessionUpdate } from "@parley/acp";
import { managed, patience, say, scripted } from "../../test/support/managed-probe.ts";
import type { ElicitationQuestion } from "../index.ts";

const cwd = tmpdir();
const form = { type: "object" as const, properties: { name: { type: "string" as const } } };

test("a form is filled in, and an address is shown with its host", patience, async (t) => {
  const url = (address: string) => ({
    mode: "url" as const,
    message: "visit",
    elicitationId: address,
    url: address,
  });
  const ask = (question: object) => ({ elicit: question, on: { accept: say("yes "), decline: say("no ") } });
  // no agent of ours would say this
  const rude = (address: string) => [
    {
      call: { method: "elicitation/create", params: { sessionId: "{{session}}", ...url(address) } },
      as: "answer",
    },
    { say: "{{answer}} " },
  ];
  const steps = [
    ask({ mode: "form", message: "who?", requestedSchema: form }),
    ask(url("https://login.example.com:8443/path?x=1")),
    ask(url("http://127.0.0.1:99/here")),
    ask(url("http://plain.example.com/")),
    ...rude("https://trusted.example.com@evil.example.com/"),
    ...rude("javascript:alert(1)"),
  ];
  const { entry } = scripted(t, { play: { otherwise: steps as never } });
  const asked: ElicitationQuestion[] = [];
  const { agent, events } = await managed(t, entry, {
    elicit: (question) => {
      asked.push(question);
      return question.mode === "form" ? { action: "accept", content: { name: "me" } } : { action: "accept" };
    },
  });
  const said: string[] = [];
  const session = await agent.newSession({ cwd, onUpdate: (update) => said.push(textOf(update)) });
  assert.deepEqual(await session.prompt("go").result, { stopReason: "end_turn" });
  assert.match(said.join(""), /^yes yes yes no \{"action":"decline"\} \{"action":"decline"\} $/);
  assert.deepEqual(
    asked.map((question) => (question.mode === "url" ? question.host : "form")),
    ["form", "login.example.com:8443", "127.0.0.1:99"],
  );
  assert.equal(events.filter(({ kind }) => kind === "warning").length, 3);
});

test(
  "C48 a visit that is never said to be over is cancelled with its prompt, and one that is over is told",
  patience,
  async (t) => {
    const visit = { mode: "url", message: "visit", elicitationId: "e1", url: "https://example.com/" };
    const params = { sessionId: "{{session}}", ...visit };
    const raw = (message: object) => ({ raw: JSON.stringify({ jsonrpc: "2.0", ...message }) });
    const { entry } = scripted(t, {
      play: {
        turns: [
          { when: "never", steps: [{ call: { method: "elicitation/create", params } }] as never },
          {
            when: "over",
            steps: [
              raw({ id: "ours", method: "elicitation/create", params }),
              raw({ method: "elicitation/complete", params: { elicitationId: "e1" } }),
            ] as never,
          },
        ],
      },
    });
    const asked = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const { agent } = await managed(t, entry, {
      elicit(question) {
        asked.resolve();
        if (question.mode === "url") question.completed.addEventListener("abort", () => over.resolve());
        return new Promise(() => undefined);
      },
    });
    const session = await agent.newSession({ cwd });
    const prompt = session.prompt("never");
    await asked.promise;
    prompt.cancel();
    assert.deepEqual(await prompt.result, { stopReason: "cancelled" });
    await session.prompt("over").result;
    await over.promise;
  },
);

test("with nobody there, no forms are offered and permissions are refused at once", patience, async (t) => {
  const steps = [
    { elicit: { mode: "form", message: "who?", requestedSchema: form }, on: { unavailable: say("none ") } },
    { ask: "may I?", on: { allowed: say("allowed"), refused: say("refused"), cancelled: say("refused") } },
  ];
  const { entry } = scripted(t, { play: { otherwise: steps as never } });
  const { agent } = await managed(t, entry);
  const said: string[] = [];
  const session = await agent.newSession({ cwd, onUpdate: (update) => said.push(textOf(update)) });
  await session.prompt("go").result;
  assert.equal(said.join(""), "none refused");
});

test(
  "a policy decides about permissions and serves files, made once for each session",
  patience,
  async (t) => {
    const steps = [
      { read: "/a/b.txt", as: "text" },
      { say: "{{text}} " },
      { ask: "may I?", on: { allowed: say("allowed") } },
    ];
    const { entry } = scripted(t, { play: { editions: ["v1"], otherwise: steps as never } });
    let made = 0;
    const { agent } = await managed(t, entry, {
      requestPermission: ({ options }) => options[0]?.optionId,
      policy: {
        decide: () => "ask",
        services: () => {
          made += 1;
          return {
            files: {
              canRead: true,
              canWrite: true,
              readText: async () => "unsaved",
              writeText: async () => undefined,
            },
            terminals: { create: () => Promise.reject(new Error("no terminals")) },
          };
        },
      },
    });
    const said: string[] = [];
    const session = await agent.newSession({ cwd, onUpdate: (update) => said.push(textOf(update)) });
    await session.prompt("go").result;
    await session.prompt("go").result;
    assert.equal(said.join(""), "unsaved allowedunsaved allowed");
    assert.equal(made, 1);
  },
);

const select = (
  configId: string,
  category: "mode" | "model" | "thought_level",
  values: readonly string[],
): SessionConfigOption => ({
  configId,
  name: `The ${configId}`,
  category,
  type: "select",
  currentValue: values[0] ?? "",
  options: values.map((value) => ({ value, name: value.toUpperCase() })),
});

test(
  "a session begins in the mode, with the model and the options that were asked for, by category, id or name",
  patience,
  async (t) => {
    const options: SessionConfigOption[] = [
      select("m", "mode", ["https://example.com/modes#ask", "https://example.com/modes#code"]),
      select("provider", "model", ["openai", "google"]),
      select("model", "model", ["small", "large"]),
      select("effort", "thought_level", ["low", "high"]),
      { configId: "auto", name: "Auto approve", type: "boolean", currentValue: false },
    ];
    const { entry, starts } = scripted(
      t,
      { play: { open: { configOptions: options }, sessions: [], otherwise: [{ crash: {} }] } },
      {
        play: {
          open: { configOptions: options },
          sessions: [{ sessionId: "old", cwd }],
          otherwise: say("ok"),
        },
      },
    );
    const { agent, events } = await managed(t, entry, { asker: { newSession: async () => true } });
    const setup = {
      mode: "code",
      model: "LARGE",
      options: { thought_level: "high", "auto approve": "on", colour: "red", provider: "nobody" },
    };
    const session = await agent.newSession({ cwd, setup });
    const values = () =>
      session.configOptions.map((option) => ("currentValue" in option ? option.currentValue : undefined));
    const wanted = ["https://example.com/modes#code", "openai", "large", "high", true];
    assert.deepEqual(values(), wanted);
    assert.deepEqual(
      session.setupProblems.map(({ message }) => message),
      [
        "option colour cannot be set: this agent has no such option; it has: m, provider, model, effort, auto",
        "option provider has no value nobody; it has: openai, google",
      ],
    );
    const warnings = () => events.filter(({ kind }) => kind === "warning").length;
    assert.equal(warnings(), 0);
    // and so it is in a process that is started anew, with what was chosen since
    await session.setConfigOption("provider", "google");
    await session.setMode("https://example.com/modes#ask");
    assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
    assert.equal(starts().length, 2);
    assert.equal(warnings(), 1);
    assert.deepEqual(values(), ["https://example.com/modes#ask", "google", "large", "high", true]);
  },
);

test("an agent that refuses an option goes on without it", patience, async (t) => {
  const options = [select("effort", "thought_level", ["low", "high"])];
  const wire = {
    replies: [{ method: "session/set_config_option", error: { code: -32603, message: "not now" } }],
  };
  const { entry } = scripted(t, { play: { open: { configOptions: options }, wire, otherwise: say("ok") } });
  const { agent } = await managed(t, entry);
  const session = await agent.newSession({ cwd, setup: { options: { effort: "high" } } });
  assert.deepEqual(session.setupProblems, [
    { what: "option effort", why: "refused", message: "option effort was not set to high: not now" },
  ]);
  assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
});

function textOf(update: SessionUpdate): string {
  return update.sessionUpdate === "agent_message_chunk" && update.content.type === "text"
    ? update.content.text
    : "";
}
