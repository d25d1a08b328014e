// Pauses of the model of our own agent, as a conversation sees them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { launcher } from "../../../acp/test/support/programs.ts";
import { withFake } from "../../../agent/test/fake-provider/asking.ts";
import { chatHome, chatWith, patience } from "../../test/support/chat-probe.ts";

test(
  "a model that cannot answer now: the turn says when it is asked again, and how often",
  patience,
  async (t) => {
    const { cwd } = chatHome(t);
    await withFake(
      [
        (exchange) =>
          exchange.json(
            429,
            { type: "error", error: { type: "rate_limit_error", message: "Slow down" } },
            {
              "retry-after": "50",
            },
          ),
      ],
      async (fake) => {
        const env = {
          ANTHROPIC_BASE_URL: fake.url,
          ANTHROPIC_API_KEY: "sk-ant-test",
          PARLEY_MODEL: "anthropic/claude-sonnet-5-5",
        };
        const { session, until, answered } = chatWith(t, { cwd, command: [launcher, "agent"], env });
        session.send({ text: "hello" });
        const asked = Date.now();
        await until(() => session.turn?.wait !== undefined);
        const { attempt, of, until: next = 0, reason } = session.turn?.wait ?? {};
        assert.deepEqual([attempt, of], [2, 5]);
        assert.ok(next > asked + 45_000 && next < Date.now() + 51_000, `${next - asked} ms`);
        assert.match(reason ?? "", /rate limit of Anthropic is reached/);
        assert.ok(!session.view.timeline.some(({ kind }) => kind === "agent_thought"), "it is no thought");
        session.cancel();
        await answered(1);
        assert.equal(session.turn, undefined);
      },
    );
  },
);
