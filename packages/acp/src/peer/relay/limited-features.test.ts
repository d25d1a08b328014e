import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryPair } from "../../transport/memory.ts";
import { agent } from "../agent/agent.ts";
import { client } from "../client/client.ts";
import { relay } from "./relay.ts";

for (const [ofClient, ofAgent] of [
  ["v1", "v2"],
  ["v2", "v1"],
] as const)
  test(`a relay that passes on no unstable features does not offer those of the agent (${ofClient} client, ${ofAgent} agent)`, async () => {
    const [toRelay, clientEnd] = memoryPair();
    const [agentEnd, atAgent] = memoryPair();
    const unstable = ["archive", "fork", "session_title", "session_status", "auth_status"] as const;
    agent({ name: "a", version: "1", editions: [ofAgent], unstable, prompt: () => undefined }).connect(
      atAgent,
    );
    relay(clientEnd, agentEnd, { unstable: [] });
    const connection = await client({ name: "c", version: "1", editions: [ofClient], unstable }).connect(
      toRelay,
    );
    const { archive, fork, setTitle, sessionStatus, authStatus, providers } = connection.capabilities;
    assert.deepEqual(
      { archive, fork, setTitle, sessionStatus, authStatus, providers },
      {
        archive: false,
        fork: false,
        setTitle: false,
        sessionStatus: false,
        authStatus: false,
        providers: false,
      },
    );
    const { sessionId } = await connection.newSession({ cwd: "/project" });
    const [listed] = (await connection.listSessions()).sessions;
    assert.deepEqual([listed?.sessionId, listed?.archived], [sessionId, undefined]);
    await connection.close();
  });
