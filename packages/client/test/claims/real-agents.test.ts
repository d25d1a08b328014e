// What real agents say that they will do, as they said it: each file beside this one is a recording of one agent, with
// what must be read from each of its questions. `label` marks what only a title or a kind says.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { client } from "@parley/acp";
import { memoryPair } from "@parley/acp/transport";
import { agentPeer, type PermissionOption, type SessionUpdate } from "@parley/acp/v1";
import { parseRule, permissionGate } from "@parley/client/policy";
import { type PermissionQuestion, permissionPolicy, type RuleSubject } from "../../src/policy.ts";
import { joinWords } from "../../src/subjects/command-words.ts";

interface Step {
  readonly tool_call?: object;
  readonly tool_call_update?: object;
  /** A question. `unasked`: the agent asked nothing, and the test asks about the call as far as it is known. */
  readonly ask?: object;
  readonly unasked?: true;
  readonly claims?: readonly string[];
}

interface Recording {
  readonly agent: string;
  readonly version: string;
  readonly calls: readonly { readonly does: string; readonly steps: readonly Step[] }[];
}

const folder = import.meta.dirname;
const recordings = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Recording); // ours

const options: PermissionOption[] = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];

/** Plays the steps to a client with a policy that asks, and returns the questions. */
async function questionsOf(t: TestContext, steps: readonly Step[]): Promise<PermissionQuestion[]> {
  const questions: PermissionQuestion[] = [];
  const policy = permissionPolicy({
    ask(question) {
      questions.push(question);
      return undefined;
    },
  });
  const [near, far] = memoryPair();
  const peer = agentPeer(far, {
    requests: {
      initialize: () => ({ protocolVersion: 1, agentCapabilities: {}, authMethods: [] }),
      "session/new": () => ({ sessionId: "s" }),
      async "session/prompt"() {
        for (const { ask, claims, ...said } of steps) {
          const [[sessionUpdate, update] = ["", {}]] = Object.entries(said);
          if (claims === undefined) {
            const whole = { sessionUpdate, toolCallId: "t", ...Object(update) };
            await peer.notify("session/update", { sessionId: "s", update: whole as SessionUpdate }); // as recorded
          } else {
            const toolCall = { toolCallId: "t", ...ask };
            await peer.request("session/request_permission", { sessionId: "s", toolCall, options });
          }
        }
        return { stopReason: "end_turn" };
      },
    },
  });
  const connected = await client({ name: "probe", version: "1.0.0", editions: ["v1"], policy }).connect(near);
  t.after(() => connected.close());
  const session = await connected.newSession({ cwd: "/project" });
  await session.prompt("go");
  return questions;
}

/** As rules are written. */
function textOf({ operation, path, argv, shellLine, cwd, host, tool, mode, labelOnly, unread }: RuleSubject) {
  const command = shellLine ?? (argv === undefined ? undefined : joinWords(argv));
  const what = path ?? command ?? host ?? mode ?? (tool && `${tool.server}/${tool.name}`);
  const where = cwd === undefined || cwd === "/project" ? "" : ` (in ${cwd})`;
  const why = unread === undefined ? "" : ` (unread: ${unread.join(", ")})`;
  return `${labelOnly ? "label " : ""}${operation}${what === undefined ? "" : ` ${what}`}${where}${why}`;
}

function effectOf(subjects: readonly RuleSubject[], effect: "allow" | "deny", ...texts: readonly string[]) {
  const rules = texts.map((text) => parseRule(text, { effect, origin: "launch" }));
  const session = { sessionId: "s", cwd: "/project", roots: ["/project"] };
  return permissionGate({ rules }).check(session, subjects).effect;
}

for (const { agent, version, calls } of recordings) {
  for (const { does, steps } of calls) {
    test(`${agent} ${version} ${does}: what it says is read, allowed by rules for just that, and denied by them`, async (t) => {
      const questions = await questionsOf(t, steps);
      const asked = steps.filter(({ claims }) => claims !== undefined);
      assert.equal(questions.length, asked.length);
      for (const [at, { claims = [] }] of asked.entries()) {
        const { subjects = [] } = questions[at] ?? {};
        const texts = subjects.map(textOf);
        assert.deepEqual(texts, claims);
        const rules = claims.map((claim) => claim.replace(/^label | \(.*$/g, ""));
        const isPlain = claims.every((claim) => !/^label |\(in /.test(claim));
        const written = rules.filter((rule) => /^(?:read|write|exec|mcp|net) [^;]+$/.test(rule));
        assert.equal(effectOf(subjects, "allow", ...written), isPlain ? "allow" : "ask");
        assert.equal(effectOf(subjects, "allow", "*"), "allow");
        for (const rule of written) assert.equal(effectOf(subjects, "deny", rule), "deny", rule);
        if (claims.every((claim) => /^(?:label )?exec/.test(claim)))
          assert.equal(effectOf(subjects, "allow", "exec **"), "allow");
      }
    });
  }
}
