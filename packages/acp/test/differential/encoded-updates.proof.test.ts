// Shows that a valid update of the model becomes valid messages of every version, so that they need not be checked
// again when they are sent. PARLEY_SEED repeats a failure.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClientCapabilities } from "../../src/edition/agent-edition.ts";
import { modelRules } from "../../src/model/model-rules.ts";
import { plainToolCallIn } from "../../src/model/plain-tool-call.ts";
import type { SessionUpdate } from "../../src/model/update.ts";
import { BoundWire } from "../../src/peer/base/bound-wire.ts";
import { loadAgentVersion } from "../../src/peer/base/load-version.ts";
import { featureMode } from "../../src/validation/unstable-features.ts";
import { Random } from "../support/random.ts";
import { inSoak } from "../support/soak.ts";
import { validSample } from "./samples.ts";
import { schemaOf } from "./schema-contract.ts";

const seed = Number(process.env.PARLEY_SEED ?? 20_261_116);
const rounds = inSoak(3_000, 100_000);
const definitions = schemaOf("v2", "unstable").$defs ?? {};
const rules = modelRules(featureMode("*"));

for (const version of [1, 2] as const) {
  for (const has of [true, false]) {
    const client = has ? "a client with every feature" : "a client without features";
    test(`a valid update of every kind is valid on version ${version} to ${client} (X2)`, async () => {
      const { edition, wire } = await loadAgentVersion(version);
      const bound = new BoundWire(wire, "agent", "*", () => undefined);
      const random = new Random(seed);
      const seen = new Map<string, number>();
      let session = edition.session(setup, capabilities(has));
      for (let i = 0; i < rounds; i++) {
        const update = sample(random);
        if (rules.update(update) !== undefined) continue;
        seen.set(update.sessionUpdate, (seen.get(update.sessionUpdate) ?? 0) + 1);
        if (random.chance(0.02)) session = edition.session(setup, capabilities(has));
        const text = JSON.stringify(update);
        for (const message of [session.encode(update) ?? []].flat()) {
          assert.doesNotThrow(
            () => bound.notification("session/update", { sessionId: "s", update: message }),
            `seed ${seed}, round ${i}: ${text} became ${JSON.stringify(message)}`,
          );
        }
        assert.equal(JSON.stringify(update), text, "the update is not changed");
      }
      const kinds = Object.keys(definitions).length > 0 ? [...seen.keys()] : [];
      for (const kind of common)
        assert.ok(kinds.includes(kind), `${kind} was tried; seed ${seed} gave ${kinds}`);
    });
  }
}

for (const version of [1, 2] as const) {
  for (const has of [true, false]) {
    const client = has ? "a client with every feature" : "a client without features";
    test(`JSON that is passed on says what the update says on version ${version} to ${client}`, async () => {
      const { edition } = await loadAgentVersion(version);
      const random = new Random(seed);
      const newSession = () => edition.session(setup, capabilities(has));
      let [session, fromJson, unparsed] = [newSession(), newSession(), newSession()];
      let [passed, calls] = [0, 0];
      for (let i = 0; i < rounds; i++) {
        const update = random.chance(0.5) ? sample(random) : simpleCall(random);
        if (rules.update(update) !== undefined) continue;
        if (random.chance(0.02)) [session, fromJson, unparsed] = [newSession(), newSession(), newSession()];
        const text = JSON.stringify(update);
        const said = [session.encode(update) ?? []].flat();
        const call = plainToolCallIn(text);
        const ofCall = call && unparsed.encodeToolCall(call);
        const json = fromJson.encodeJson(update, text);
        if (ofCall !== undefined) calls++;
        if (json !== undefined) passed++;
        for (const [one, other] of [
          [ofCall, unparsed],
          [json, fromJson],
        ] as const) {
          const messages = one === undefined ? [other.encode(update) ?? []].flat() : [JSON.parse(one)];
          const message = `seed ${seed}, round ${i}: ${text}`;
          assert.deepEqual(JSON.parse(JSON.stringify(messages)), JSON.parse(JSON.stringify(said)), message);
        }
      }
      assert.ok(passed > rounds / 8 && calls > rounds / 8, `${passed} passed, ${calls} calls`);
    });
  }
}

const common = [
  "agent_message_chunk",
  "agent_message",
  "tool_call_update",
  "tool_call_content_chunk",
  "terminal_update",
  "plan_update",
  "available_commands_update",
  "config_option_update",
  "usage_update",
  "notice",
];

const setup = { sessionId: "s", configOptions: [], availableCommands: [] };

function capabilities(has: boolean): ClientCapabilities {
  return {
    readTextFile: has,
    writeTextFile: has,
    terminal: has,
    terminalAuth: has,
    elicitationForm: has,
    elicitationUrl: has,
    booleanOptions: has,
    notices: has,
    compaction: has,
    plans: has,
    subagents: has,
    terminalOutput: has,
  };
}

/** Few ids, so that updates meet; diffs with and without the texts that only the model has. */
function sample(random: Random): SessionUpdate {
  const update = validSample(definitions, "SessionUpdate", random) as { [key: string]: unknown };
  if ("toolCallId" in update) update["toolCallId"] = random.pick(["a", "b", "c"]);
  if ("terminalId" in update) update["terminalId"] = random.pick(["a", "b"]);
  if ("messageId" in update) update["messageId"] = random.pick(["a", "b"]);
  const { content } = update;
  for (const item of Array.isArray(content) ? content : [content]) {
    if (item?.type !== "diff" || random.chance(0.5)) continue;
    Object.assign(
      item,
      { path: "/w/x.ts", newText: "new\n" },
      random.chance(0.5) ? { oldText: "old\n" } : {},
    );
  }
  return update as unknown as SessionUpdate; // as: tried on the model's rules next
}

/** A tool call that is often plain. */
function simpleCall(random: Random): SessionUpdate {
  const content = [{ type: "content", content: { type: "text", text: "x" } }];
  const fields = {
    title: "T",
    name: "n",
    kind: random.pick(["read", "other", "_own"]),
    status: random.pick(["pending", "in_progress", "completed", "failed", "cancelled"]),
    content: random.pick([content, [], null]),
    locations: [{ path: "/a", line: 1 }],
    rawInput: random.pick([{ a: 1 }, "x", null]),
    rawOutput: { told: "x" },
  };
  const some = Object.entries(fields).filter(() => random.chance(0.4));
  const toolCallId = random.pick(["a", "b", "c"]);
  // as: tried on the model's rules next
  return {
    sessionUpdate: "tool_call_update",
    toolCallId,
    ...Object.fromEntries(some),
  } as unknown as SessionUpdate;
}
