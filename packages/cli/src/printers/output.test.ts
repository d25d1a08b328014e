import assert from "node:assert/strict";
import { test } from "node:test";
import { StatusLine } from "./output.ts";

test("a terminal that says it has no columns gets the whole status line", () => {
  for (const columns of [0, undefined]) {
    const written: string[] = [];
    const stream = { columns, write: (text: string) => written.push(text) };
    // of a stream it needs these two
    new StatusLine(stream as unknown as NodeJS.WriteStream).draw("waiting for the agent to come back");
    assert.match(written.join(""), /waiting for the agent to come back/);
  }
});
