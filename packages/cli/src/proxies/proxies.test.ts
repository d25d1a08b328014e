// Shipped proxies in one process with a client and an agent.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { agent, client, RequestError } from "@parley/acp";
import type { ContentBlock } from "@parley/acp/model";
import { conductor } from "@parley/acp/proxy";
import { proxyArguments } from "../proxy/proxy-arguments.ts";
import { budget } from "./budget.ts";
import { context } from "./context.ts";
import { redact } from "./redact.ts";
import type { ShippedProxy } from "./shipped-proxy.ts";

const secret = "correct-horse-battery-staple-42";
const host = {
  folder: tmpdir(),
  warn: () => undefined,
  reach: () => Promise.reject(new Error("nothing is reached here")),
  secrets: () => [secret],
};

const made = (shipped: ShippedProxy, ...args: string[]) =>
  shipped.create(proxyArguments(shipped, args, "--proxy"), host);

test("redact removes a secret from questions and from files that the agent reads; what it writes is its own", async () => {
  const got: string[] = [];
  const asking = agent({
    name: "a",
    version: "1",
    async prompt(turn) {
      got.push((await turn.client.files?.readText("/notes")) ?? "");
      await turn.client.files?.writeText("/out", secret);
      await turn.requestPermission(`May I use ${secret}?`);
    },
  });
  const shown: string[] = [];
  const written: string[] = [];
  const app = client({
    name: "c",
    version: "1",
    editions: ["v1"],
    requestPermission(ask) {
      shown.push(JSON.stringify(ask));
      return undefined;
    },
    files: {
      readText: async () => `the key is ${secret}`,
      writeText: async (_path, content) => void written.push(content),
    },
  });
  const connection = await app.connect(conductor([made(redact), asking]));
  await (await connection.newSession({ cwd: "/" })).prompt("go");
  assert.deepEqual(got, ["the key is [secret]"]);
  assert.match(shown.join(), /May I use \[secret\]/);
  assert.ok(!shown.join().includes(secret));
  assert.deepEqual(written, [secret]);
  await connection.close();
});

test("what an agent says before its turn fails is not kept back", async () => {
  const failing = agent({
    name: "a",
    version: "1",
    async prompt(turn) {
      await turn.say(`it is ${secret.slice(0, 20)}`);
      throw new RequestError("internal_error", "the model has gone");
    },
  });
  const connection = await client({ name: "c", version: "1" }).connect(conductor([made(redact), failing]));
  const session = await connection.newSession({ cwd: "/" });
  let said = "";
  session.onUpdate((update) => {
    if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
      said += update.content.text;
  });
  await session.prompt("go").catch(() => undefined);
  assert.equal(said, `it is ${secret.slice(0, 20)}`);
  await connection.close();
});

test("a first prompt that failed has its context again when it is tried again", async () => {
  const got: string[] = [];
  const failingOnce = agent({
    name: "a",
    version: "1",
    prompt(turn) {
      got.push(turn.text);
      if (got.length === 1) throw new RequestError("auth_required", "log in first");
    },
  });
  const connection = await client({ name: "c", version: "1" }).connect(
    conductor([made(context, "--text", "Be brief."), failingOnce]),
  );
  const session = await connection.newSession({ cwd: "/" });
  await session.prompt("hi").catch(() => undefined);
  await session.prompt("hi");
  await session.prompt("more");
  assert.deepEqual(
    got.map((text) => text.replaceAll(/\s/g, "")),
    ["hiBebrief.", "hiBebrief.", "more"],
  );
  await connection.close();
});

for (const edition of ["v1", "v2"] as const)
  for (const embeddedContext of [true, false])
    test(`context adds ${embeddedContext ? "resources" : "texts"} behind the user's words (${edition})`, async (t) => {
      const cwd = mkdtempSync(join(tmpdir(), "parley-context-"));
      t.after(() => rmSync(cwd, { recursive: true, force: true }));
      writeFileSync(join(cwd, "NOTES.md"), "tabs");
      const got: ContentBlock[] = [];
      const hearing = agent({
        name: "a",
        version: "1",
        editions: [edition],
        promptCapabilities: { embeddedContext },
        prompt: ({ prompt }) => void got.push(...prompt),
      });
      const proxy = made(context, "--text", "Be brief.", "--file", "NOTES.md");
      const connection = await client({ name: "c", version: "1" }).connect(conductor([proxy, hearing]));
      await (await connection.newSession({ cwd })).prompt("hi");
      const bare = got.map(({ _meta, ...block }) => block);
      const text = (words: string) => ({ type: "text", text: words });
      const resource = (uri: string, words: string) => ({
        type: "resource",
        resource: { uri, text: words, mimeType: "text/plain" },
      });
      assert.deepEqual(
        bare,
        embeddedContext
          ? [
              text("hi"),
              resource("context:1", "Be brief."),
              resource(pathToFileURL(join(cwd, "NOTES.md")).href, "tabs"),
            ]
          : [text("hi"), text("\n\nBe brief."), text("\n\nThe file NOTES.md:\n\ntabs")],
      );
      await connection.close();
    });

test("the time in which the user thinks about a question is not the agent's", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000 });
  const folder = mkdtempSync(join(tmpdir(), "parley-budget-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const said: string[] = [];
  const asking = agent({
    name: "a",
    version: "1",
    async prompt(turn) {
      await turn.requestPermission("May I?");
    },
  });
  const app = client({
    name: "c",
    version: "1",
    requestPermission({ options }) {
      t.mock.timers.tick(60_000);
      return options[0]?.optionId;
    },
  });
  const limited = budget.create(proxyArguments(budget, ["--time", "2s"], "--proxy"), { ...host, folder });
  const connection = await app.connect(conductor([limited, asking]));
  const session = await connection.newSession({ cwd: "/" });
  session.onUpdate((update) => {
    if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
      said.push(update.content.text);
  });
  for (const _ of [1, 2]) assert.equal((await session.prompt("go")).stopReason, "end_turn");
  assert.deepEqual(said, []);
  await connection.close();
});
