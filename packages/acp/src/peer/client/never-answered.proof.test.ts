// F5: a client that never answers a question. A cancel ends the turn each time, and no memory is kept.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { initialize, text, withScriptedClient } from "../../../test/support/peer-probe.ts";
import { inSoak } from "../../../test/support/soak.ts";

/** In each version. */
const rounds = inSoak(1_500, 5_000);

setFlagsFromString("--expose_gc");
const collectGarbage = runInNewContext("gc") as () => void; // as: the flag makes it

function megabytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

for (const version of [1, 2] as const) {
  test(`F5 ${rounds} questions that are never answered end with their turns, and leave nothing (v${version})`, {
    timeout: 120_000,
  }, async () => {
    let asked = 0;
    let idle = () => {};
    const { peer, call } = withScriptedClient(
      {
        async prompt(turn) {
          assert.equal(await turn.requestPermission("May I?"), undefined);
        },
      },
      {
        "session/request_permission": (params, request) => {
          asked += 1;
          peer.notify("session/cancel", { sessionId: params["sessionId"] as string });
          // until it is withdrawn; what is said then comes too late for anything
          return new Promise((resolve) => {
            request.signal.addEventListener("abort", () =>
              resolve({ outcome: { outcome: "selected", optionId: "allow_once" } }),
            );
          });
        },
        "session/update": ({ update }) => {
          if ((update as { state?: string }).state === "idle") idle();
        },
      },
    );
    await call("initialize", initialize(version));
    let sessionId = "";
    const round = async (number: number) => {
      // a session keeps its history, which is not what is looked for
      if (number % 500 === 0) {
        if (sessionId !== "") await call("session/delete", { sessionId });
        ({ sessionId } = (await call("session/new", { cwd: "/", mcpServers: [] })) as { sessionId: string });
      }
      const over = version === 2 ? new Promise<void>((resolve) => (idle = resolve)) : undefined;
      const answer = await call("session/prompt", { sessionId, prompt: [text("go")] });
      await over;
      if (version === 1) assert.deepEqual(answer, { stopReason: "cancelled" });
      // the probe writes down all that it gets
      peer.got.length = 0;
    };
    for (let number = 0; number <= 500; number += 1) await round(number);
    const before = megabytes();
    for (let number = 501; number <= rounds; number += 1) await round(number);
    assert.equal(asked, rounds + 1);
    const growth = megabytes() - before;
    assert.ok(growth < inSoak(2, 4), `${growth.toFixed(1)} MB more`);
  });
}
