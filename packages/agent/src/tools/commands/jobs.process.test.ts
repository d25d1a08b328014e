// Tests background commands: ids, status, and how the client sees them end.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import type { SessionUpdate } from "@parley/acp";
import { localTerminals } from "@parley/acp/node";
import { isGone } from "../../../test/support/polling.ts";
import { type Probe, probe, refusal } from "../../../test/support/tool-probe.ts";
import { bashTool } from "./bash.ts";
import { jobTool } from "./jobs.ts";

const patient = { timeout: 60_000 };

type ToolUpdate = Extract<SessionUpdate, { sessionUpdate: "tool_call_update" }>;
const isEnd = (update: SessionUpdate): update is ToolUpdate =>
  update.sessionUpdate === "tool_call_update" &&
  /^(?:completed|failed|cancelled)$/.test(update.status ?? "") &&
  JSON.stringify(update.rawOutput ?? "").includes("job-");

/** When the call of the job, not that of bash, has ended. */
function jobEnd({ onUpdate }: Probe): Promise<ToolUpdate> {
  return new Promise((resolve) =>
    onUpdate((update) => {
      if (isEnd(update) && !JSON.stringify(update.rawOutput).includes('"running"')) resolve(update);
    }),
  );
}

for (const version of [1, 2] as const) {
  test(
    `a command in the background has an id, goes on when its turn ends, and ends by itself (v${version})`,
    patient,
    async (t) => {
      const place = await probe(t, { version });
      const { call, at } = place;
      const command = "echo begun; until [ -e go ]; do sleep 0.05; done; echo over; exit 3";
      const started = await call(bashTool, { command, background: true });
      assert.match(started.told, /background as job-1/);
      assert.deepEqual(started.result.rawOutput, { id: "job-1", status: "running" });
      const meanwhile = await call(jobTool, { id: "job-1" });
      assert.match(meanwhile.told, /job-1: echo begun.*\[it is running\]/s);
      const ended = jobEnd(place);
      writeFileSync(at("go"), "");
      const { status, rawOutput } = await ended;
      assert.equal(status, "failed");
      assert.deepEqual(
        { ...(rawOutput as object), bytes: 0 },
        {
          id: "job-1",
          exitCode: 3,
          signal: null,
          timedOut: false,
          bytes: 0,
        },
      );
      const { told, result } = await call(jobTool, { id: "job-1" });
      assert.match(told, /begun\nover\n\n\[exit code 3\]/);
      assert.equal((result.rawOutput as { status: string }).status, "ended");
    },
  );
}

test("a command in the background is stopped with all that it started", patient, async (t) => {
  // also where the client has terminals: those would end with the turn
  const place = await probe(t, { version: 1, client: { terminals: ({ cwd }) => localTerminals({ cwd }) } });
  const { call, at } = place;
  const command = "sleep 1000 & echo $! > pid; wait";
  await call(bashTool, { command, background: true });
  await call(bashTool, { command: "until [ -s pid ]; do sleep 0.05; done" });
  const ended = jobEnd(place);
  const { told } = await call(jobTool, { id: "job-1", stop: true });
  assert.match(told, /\[it was stopped\]/);
  assert.notEqual((await ended).status, "completed");
  assert.ok(await isGone(Number(readFileSync(at("pid"), "utf8"))));
});

test("an unknown job id is refused with the known ids", patient, async (t) => {
  const { call } = await probe(t);
  assert.match(
    await refusal(call(jobTool, { id: "job-9" })),
    /no background command "job-9".*None was started/s,
  );
  await call(bashTool, { command: "true", background: true });
  assert.match(await refusal(call(jobTool, { id: "job-9" })), /There are: job-1/);
});
