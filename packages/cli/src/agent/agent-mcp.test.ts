import assert from "node:assert/strict";
import { test } from "node:test";
import { mcp } from "./agent-mcp.ts";

test("parley agent mcp refuses arguments that it does not know, in words", async () => {
  for (const [positionals, wanted] of [
    [["login"], /expected list, login NAME or logout NAME, got login$/],
    [["frobnicate", "x"], /expected list, login NAME or logout NAME, got frobnicate x$/],
    [["login", "a", "b"], /expected list, login NAME or logout NAME, got login a b$/],
    [["login", "http://"], /expected the address of a server, got http:/],
  ] as const) {
    const refused = mcp({ values: {}, positionals, words: positionals, argv: [], json: false });
    await assert.rejects(refused, (error: Error & { exitCode?: number }) => {
      assert.match(error.message, wanted);
      return error.exitCode === 2;
    });
  }
});
