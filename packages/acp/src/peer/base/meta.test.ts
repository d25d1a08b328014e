import assert from "node:assert/strict";
import { inEveryVersion } from "../../../test/support/peer-probe.ts";
import { agent, client, type ElicitationRequest } from "../../index.ts";
import { memoryPair } from "../../transport.ts";

inEveryVersion(
  "custom data crosses both ways with a session, a prompt and its outcome (X2, X7)",
  async ({ editions: versions }) => {
    const [agentEnd, clientEnd] = memoryPair();
    const seen: unknown[] = [];
    agent({
      name: "a",
      version: "1",
      session: { open: (_session, { _meta }) => void seen.push(_meta) },
      prompt(turn) {
        seen.push(turn._meta);
        return { stopReason: "end_turn", _meta: { "example.com/cost": 3 } };
      },
    }).connect(agentEnd);
    const connected = await client({ name: "c", version: "1", editions: versions }).connect(clientEnd);
    const session = await connected.newSession({ cwd: "/w", _meta: { "example.com/tab": 1 } });
    const { result: outcome } = session.prompt("hello", { _meta: { "example.com/id": "x" } });
    assert.deepEqual((await outcome)._meta, { "example.com/cost": 3 });
    assert.deepEqual(seen, [{ "example.com/tab": 1 }, { "example.com/id": "x" }]);
    await connected.close();
  },
);

inEveryVersion(
  "an agent says when the flow behind a URL elicitation is over (A98, C44)",
  async ({ editions: versions }) => {
    const [agentEnd, clientEnd] = memoryPair();
    const ask: ElicitationRequest = {
      mode: "url",
      message: "Log in",
      elicitationId: "e1",
      url: "https://example.com/x",
    };
    agent({
      name: "a",
      version: "1",
      async prompt(turn) {
        const { action } = await turn.elicit(ask);
        turn.session.completeElicitation(ask.elicitationId);
        await turn.say(action);
      },
    }).connect(agentEnd);
    const completed: string[] = [];
    const connected = await client({
      name: "c",
      version: "1",
      editions: versions,
      elicit: () => ({ action: "accept" }),
      elicitationCompleted: (elicitationId) => void completed.push(elicitationId),
    }).connect(clientEnd);
    const session = await connected.newSession({ cwd: "/w" });
    await session.prompt("go").result;
    assert.deepEqual(completed, ["e1"]);
    await connected.close();
  },
);
