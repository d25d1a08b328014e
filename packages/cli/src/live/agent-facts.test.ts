import assert from "node:assert/strict";
import { test } from "node:test";
import { askerName } from "./agent-facts.ts";

test("an agent that was given by an address asks by the name that it gives itself", () => {
  const entry = {
    name: "127.0.0.1:44211",
    origin: "command",
    transport: "http",
    url: "http://127.0.0.1:44211/acp",
  } as const;
  assert.equal(askerName(entry, undefined), "127.0.0.1:44211");
  assert.equal(askerName(entry, { name: "qwen-code", title: "Qwen Code" }), "Qwen Code");
  assert.equal(askerName(entry, { name: "qwen-code" }), "qwen-code");
  assert.equal(askerName({ ...entry, name: "work" }, { name: "qwen-code" }), "work");
});
