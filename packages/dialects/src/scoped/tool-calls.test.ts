// How tool calls of our agent end, as a client of the document sees them: outputs, errors and refusals.

import assert from "node:assert/strict";
import test from "node:test";
import type { DialectStep } from "@parley/acp/transport";
import { DialectDriver } from "../../test/support/dialect-driver.ts";
import { methods } from "../wire/scoped/methods.gen.ts";
import { scopedMachines as scoped } from "./machines.ts";

/** With a session "s" and a turn in which a call "t" has begun. */
function inCall(ui: object = {}): DialectDriver {
  const driver = new DialectDriver(scoped, "agent", methods, { unstable: true });
  const clientInfo = { name: "E", version: "1" };
  const capabilities = { fs: { read: true, write: true }, terminal: { create: true, maxConcurrent: 2 }, ui };
  driver.receive({ id: 1, method: "initialize", params: { protocolVersion: 1, clientInfo, capabilities } });
  driver.send({ id: 1, result: { protocolVersion: 1, agentCapabilities: {} } });
  driver.receive({ id: 2, method: "session/new", params: { workingDirectory: "/w" } });
  driver.send({ id: 2, result: { sessionId: "s" } });
  const content = [{ type: "text", text: "go" }];
  driver.receive({ id: 9, method: "session/prompt", params: { sessionId: "s", content } });
  tell(driver, { sessionUpdate: "tool_call", title: "Do it", kind: "other", status: "in_progress" });
  return driver;
}

function tell(driver: DialectDriver, update: object): DialectStep {
  const params = { sessionId: "s", update: { toolCallId: "t", ...update } };
  return driver.send({ method: "session/update", params });
}

/** The last update of the call. */
function ended(driver: DialectDriver, update: object): Record<string, unknown> {
  const { params } = tell(driver, { sessionUpdate: "tool_call_update", ...update }).toPeer.at(-1) ?? {};
  return (params as { data: Record<string, unknown> }).data;
}

const text = (words: string): object => ({ type: "content", content: { type: "text", text: words } });
const diff = { type: "diff", path: "/w/a", newText: "x\n" };

test("a call that fails says why beside its diff (16.2)", () => {
  const data = ended(inCall(), { status: "failed", content: [diff, text("refused by policy 7")] });
  assert.equal(data["status"], "failed");
  assert.equal(data["error"], "refused by policy 7");
  assert.equal((data["output"] as { type: string }).type, "diff");
});

test("the last update of a command has its line, its exit code and its output (8.4)", () => {
  const driver = inCall();
  driver.send({
    id: 50,
    method: "terminal/create",
    params: { sessionId: "s", command: "/bin/bash", args: ["-c", "echo fine"] },
  });
  driver.receive({ id: 50, result: { terminalId: "t1" } });
  tell(driver, {
    sessionUpdate: "tool_call_update",
    content: [{ type: "terminal", terminalId: "t1" }],
  });
  driver.receive({
    method: "terminal/output",
    params: { terminalId: "t1", data: "fine\n", stream: "stdout" },
  });
  driver.send({ id: 51, method: "terminal/wait_for_exit", params: { sessionId: "s", terminalId: "t1" } });
  driver.receive({ id: 51, result: { exitCode: 3 } });
  driver.send({ id: 52, method: "terminal/release", params: { sessionId: "s", terminalId: "t1" } });
  driver.receive({ id: 52, result: { released: true } });
  assert.deepEqual(ended(driver, { status: "failed" })["output"], {
    type: "terminal",
    terminalId: "t1",
    command: "echo fine",
    exitCode: 3,
    stdout: "fine\n",
    stderr: "",
  });
});

test("a call that nobody could be asked about is denied (8.2)", () => {
  const driver = inCall({ permissionDialogs: false });
  const options = [{ optionId: "n", name: "No", kind: "reject_once" }];
  const params = { sessionId: "s", toolCall: { toolCallId: "t" }, options };
  driver.send({ id: 50, method: "session/request_permission", params });
  assert.equal(ended(driver, { status: "failed", content: [text("not allowed")] })["status"], "denied");
});

test("the text of a resource is told as text (16.3)", () => {
  const resource = { uri: "mem://a", text: "what it says", mimeType: "text/plain" };
  const content = [{ type: "content", content: { type: "resource", resource } }];
  const driver = inCall();
  assert.deepEqual(ended(driver, { status: "completed", content })["output"], {
    type: "text",
    text: "what it says",
    _meta: { "_parley.dev/details": { uri: "mem://a", mimeType: "text/plain" } },
  });
  assert.deepEqual(driver.lost, []);
});

test("a client that runs two terminals at once is asked for no third one (10.2)", () => {
  const driver = inCall();
  const create = (id: number): DialectStep =>
    driver.send({ id, method: "terminal/create", params: { sessionId: "s", command: "sleep" } });
  assert.equal(create(50).toPeer.length, 1);
  driver.receive({ id: 50, result: { terminalId: "t1" } });
  // one that is being created counts too
  assert.equal(create(51).toPeer.length, 1);
  const { toPeer, toUs } = create(52);
  assert.deepEqual(toPeer, []);
  assert.match(toUs[0]?.error?.message ?? "", /at most 2 terminals at once: release one first/);
  driver.receive({ id: 51, result: { terminalId: "t2" } });
  driver.send({ id: 53, method: "terminal/release", params: { sessionId: "s", terminalId: "t1" } });
  driver.receive({ id: 53, result: { released: true } });
  assert.equal(create(54).toPeer.length, 1);
});
