// The agent that most people have, kept alive by our kit and run by our command, against a model on the loopback
// interface: what it does is its own, and nobody here wrote it.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { SessionUpdate } from "@parley/acp";
import type { ProtocolVersion } from "@parley/acp/internal";
import type { ManagedAgentEvent } from "@parley/client";
import { manageAgent } from "@parley/client/internal";
import { readyAgents } from "@parley/client/launch";
import type { MessagesModel } from "./messages-model.ts";

export interface Place {
  /** A folder that is thrown away. */
  readonly folder: string;
  /** Where the agent's program is. */
  readonly bin: string;
  /** The command `parley`. */
  readonly launcher: string;
}

/** Nothing of the user's own: neither settings nor keys. */
export function environment({ folder, bin }: Place, model: MessagesModel): Record<string, string> {
  return {
    PATH: `${bin}:${process.env.PATH ?? ""}`,
    HOME: folder,
    PARLEY_HOME: join(folder, "parley"),
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "fake",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    IS_SANDBOX: "1",
  };
}

async function claude(place: Place, model: MessagesModel, version: ProtocolVersion, work: string) {
  const entry =
    readyAgents().find(({ name }) => name === "claude") ?? assert.fail("claude is no ready agent");
  const events: ManagedAgentEvent[] = [];
  const asked: string[] = [];
  let choice: "allow_once" | "reject_once" = "allow_once";
  const gone = Promise.withResolvers<void>();
  const agent = await manageAgent(entry, {
    name: "parley-peers",
    version: "1.0.0",
    editions: [`v${version}`],
    inherited: environment(place, model),
    cwd: work,
    requestPermission: ({ title, options }) => {
      asked.push(title);
      return options.find(({ kind }) => kind === choice)?.optionId;
    },
    onEvent(event) {
      events.push(event);
      if (event.kind === "crashed") gone.resolve();
    },
    asker: { newSession: () => assert.fail("it has lost its session") },
  });
  const updates: SessionUpdate[] = [];
  /** The names in `_meta` of its updates. */
  const seenMeta = new Set<string>();
  const onUpdate = (update: SessionUpdate): void => {
    updates.push(update);
    for (const name of metaNames(update)) seenMeta.add(name);
  };
  const session = await agent.newSession({ cwd: work, onUpdate });
  const text = () =>
    updates
      .splice(0)
      .map((update) =>
        update.sessionUpdate === "agent_message_chunk" && update.content.type === "text"
          ? update.content.text
          : "",
      )
      .join("");
  return {
    agent,
    session,
    events,
    gone,
    asked,
    text,
    updates,
    seenMeta,
    choose: (what: typeof choice) => (choice = what),
  };
}

function metaNames(update: SessionUpdate): string[] {
  return "_meta" in update && typeof update._meta === "object" ? Object.keys(update._meta ?? {}) : [];
}

/** One life of the agent in each version: everything that a client does to it. */
export async function liveClaude(
  place: Place,
  model: MessagesModel,
  version: ProtocolVersion,
): Promise<void> {
  const work = join(place.folder, `work-${version}`);
  mkdirSync(work);
  const { agent, session, events, gone, asked, text, updates, seenMeta, choose } = await claude(
    place,
    model,
    version,
    work,
  );
  try {
    assert.equal(agent.edition, `v${version}`);
    assert.equal((await session.prompt("good morning").result).stopReason, "end_turn");
    assert.match(text(), /heard: .*good morning/s);

    // a permission that is given, and one that is not
    assert.equal((await session.prompt("RUN: touch allowed.txt").result).stopReason, "end_turn");
    assert.ok(existsSync(join(work, "allowed.txt")), "the command did not run");
    assert.equal(asked.length, 1);
    // its commands are terminals, since we declare that we show them
    assert.ok(updates.some(({ sessionUpdate }) => sessionUpdate === "terminal_update"));
    assert.ok(updates.some(({ sessionUpdate }) => sessionUpdate === "tool_call_update"));
    choose("reject_once");
    await session.prompt("RUN: touch refused.txt").result;
    assert.equal(existsSync(join(work, "refused.txt")), false, "a refused command ran");
    assert.equal(asked.length, 2);
    text();

    // a cancel in the middle of an answer, with a prompt behind it
    const began = Promise.withResolvers<void>();
    const stop = session.onUpdate(
      ({ sessionUpdate }) => sessionUpdate === "agent_message_chunk" && began.resolve(),
    );
    const held = session.prompt("HOLD");
    const next = session.prompt("and then?");
    await began.promise;
    stop();
    held.cancel();
    assert.equal((await held.result).stopReason, "cancelled");
    assert.equal((await next.result).stopReason, "end_turn");

    // a message for the answer that is being given, which the agent offers on version 1
    if (version === 1) {
      assert.equal(agent.capabilities.steer, true);
      const speaking = Promise.withResolvers<void>();
      const quiet = session.onUpdate(
        ({ sessionUpdate }) => sessionUpdate === "agent_message_chunk" && speaking.resolve(),
      );
      const endless = session.prompt("HOLD");
      await speaking.promise;
      quiet();
      text();
      const steered = session.steer("never mind, and greet me");
      assert.equal((await endless.result).stopReason, "end_turn");
      assert.equal((await steered.result).joined, true);
      assert.match(text(), /heard: .*greet me/s);
    }

    // what it says beside the schema reaches the app; it sends no keys that the schema does not have
    assert.ok(seenMeta.has("claudeCode"), `the names in _meta were ${[...seenMeta].join(", ")}`);

    // the session as the agent itself tells it: each message once, whole, with an id of its own, and with its `_meta`
    const replayed: SessionUpdate[] = [];
    await agent.loadSession(session.sessionId, { cwd: work, onUpdate: (update) => replayed.push(update) });
    const messages = replayed.flatMap((update) =>
      update.sessionUpdate === "user_message" || update.sessionUpdate === "agent_message"
        ? [update.messageId]
        : [],
    );
    assert.ok(messages.length > 6);
    assert.equal(new Set(messages).size, messages.length, "a message came twice");
    const told = JSON.stringify(
      replayed.filter(({ sessionUpdate }) => sessionUpdate.startsWith("user_message")),
    );
    assert.equal(told.split('"good morning"').length - 1, 1, "what the user said, once");
    assert.ok(replayed.some((update) => metaNames(update).includes("claudeCode")));

    // it is killed, and goes on with what was said before
    process.kill(agent.pid ?? assert.fail("it does not run"), "SIGKILL");
    await gone.promise;
    assert.equal((await session.prompt("still there?").result).stopReason, "end_turn");
    assert.ok(events.some((event) => event.kind === "continued" && event.how !== "new"));
    assert.match(model.conversations.findLast((each) => each.includes("still there?")) ?? "", /good morning/);
  } finally {
    await agent.close();
  }
}

/** The same agent under the command, by its name: exit codes are what scripts see. */
export async function runClaude(place: Place, model: MessagesModel): Promise<void> {
  const work = join(place.folder, "work-run");
  mkdirSync(work);
  const env = environment(place, model);
  const parley = (...args: readonly string[]) =>
    new Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>((resolve) => {
      const child = execFile(
        place.launcher,
        args,
        { cwd: work, env, timeout: 120_000 },
        (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
      );
      child.stdin?.end();
    });
  const checked = await parley("agents", "check", "claude", "--json");
  assert.equal(checked.code, 0, checked.stdout + checked.stderr);
  const { tools } = JSON.parse(checked.stdout).data;
  assert.deepEqual([tools.state, tools.way, tools.tools], ["connected", "http", 1], checked.stdout);
  const said = await parley(
    "run",
    "good evening",
    "--agent",
    "claude",
    "--format",
    "quiet",
    "--session",
    "one",
  );
  assert.equal(said.code, 0, said.stderr);
  assert.match(said.stdout, /heard: .*good evening/s);
  const again = await parley("run", "and now?", "--agent", "claude", "--format", "quiet", "--session", "one");
  assert.equal(again.code, 0, again.stderr);
  // the agent also asks for a title, without what was said before
  assert.ok(model.conversations.some((each) => each.includes("and now?") && each.includes("good evening")));
  const refused = await parley("run", "RUN: touch refused.txt", "--agent", "claude", "--format", "quiet");
  assert.equal(refused.code, 3, refused.stdout + refused.stderr);
  assert.equal(existsSync(join(work, "refused.txt")), false, "a refused command ran");
}
