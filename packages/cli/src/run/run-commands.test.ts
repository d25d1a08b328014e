import assert from "node:assert/strict";
import { test } from "node:test";
import { exitCodes } from "../live/live-error.ts";
import { runCommands } from "./run-commands.ts";

test("the help of run names every exit code", () => {
  const details = runCommands.find(({ name }) => name === "run")?.details ?? "";
  const named = Array.from(details.matchAll(/^ {2}(\d+) {2}/gm), ([, code]) => Number(code));
  assert.deepEqual(
    named,
    [...new Set(Object.values(exitCodes))].sort((one, other) => one - other),
  );
});
