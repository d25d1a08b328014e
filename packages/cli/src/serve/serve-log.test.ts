// What `parley serve` says, for people and for scripts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { agentName, announce } from "./serve-announce.ts";
import { serveLog } from "./serve-log.ts";

const connectionId = "d7118996f52ba821554ad9e94a645a5c";

function recorded(json: boolean) {
  const lines = { stdout: "", stderr: "" };
  const log = serveLog(json, {
    stdout: (text) => {
      lines.stdout += text;
    },
    stderr: (text) => {
      lines.stderr += text;
    },
    now: () => new Date(2026, 1, 3, 4, 5, 6),
  });
  return { lines, ...log };
}

test("the log for people has times, short ids, levels, and each line of stderr that is not empty", () => {
  const { lines, log, stderr } = recorded(false);
  log("info", "the agent was started", { connectionId, pid: 7 });
  log("warn", "a request was refused", { address: "192.0.2.1", reason: "no token" });
  stderr(connectionId, "one\n\ntwo\n");
  stderr(connectionId, "\n");
  assert.equal(
    lines.stderr,
    "04:05:06 the agent was started connection=d7118996 pid=7\n" +
      '04:05:06 warning: a request was refused address=192.0.2.1 reason="no token"\n' +
      "04:05:06 d7118996 | one\n04:05:06 d7118996 | two\n",
  );
});

test("the log for scripts has whole ids, and stderr as it came", () => {
  const { lines, stderr } = recorded(true);
  stderr(connectionId, "one\n\ntwo\n");
  stderr(connectionId, "\n");
  const { time: _, ...event } = JSON.parse(lines.stdout);
  assert.deepEqual(event, {
    v: 1,
    type: "log",
    level: "info",
    message: "stderr of the agent",
    connectionId,
    text: "one\n\ntwo",
  });
});

test("behind a proxy the printed address is that of the first name, without the port of this machine", () => {
  const { lines, ...output } = recorded(false);
  const gateway = { url: "http://agents.example.org:8080/acp", port: 8080, token: "secret-token" };
  const values = { "behind-proxy": true, "allow-host": ["agents.example.org"], host: "0.0.0.0" };
  announce({ gateway, agent: "parley", values, isTokenKnown: true }, output);
  assert.match(
    lines.stdout,
    /^serving parley at\n {2}https:\/\/agents\.example\.org\/acp\n {2}\(behind the proxy; port 8080/,
  );
  assert.match(lines.stdout, / connect https:\/\/agents\.example\.org\/acp\n/);
  assert.match(lines.stdout, / run --url https:\/\/agents\.example\.org\/acp "PROMPT"\n/);
  assert.doesNotMatch(lines.stdout, /secret-token/);
});

test("the printed commands name the dialect that is served", () => {
  const { lines, ...output } = recorded(false);
  const gateway = { url: "http://127.0.0.1:8080/acp", port: 8080, token: "secret-token" };
  announce({ gateway, agent: "parley", values: { edition: "pharo" }, isTokenKnown: true }, output);
  assert.match(lines.stdout, / connect --edition pharo http:/);
  assert.match(lines.stdout, / run --edition pharo --url http:/);
});

test("a name with a port of its own is printed with that port", () => {
  const { lines, ...output } = recorded(false);
  const gateway = { url: "http://localhost:48500/acp", port: 8080, token: "secret-token" };
  const values = { "behind-proxy": true, "allow-host": ["localhost:48500"], host: "0.0.0.0" };
  announce({ gateway, agent: "parley", values, isTokenKnown: true }, output);
  assert.match(
    lines.stdout,
    /^serving parley at\n {2}https:\/\/localhost:48500\/acp\n {2}\(behind the proxy; port 8080/,
  );
});

test("the file of the token is said to be one of this machine, and a server on all addresses speaks of names", () => {
  const { lines, ...output } = recorded(false);
  const gateway = { url: "https://localhost:8443/acp", port: 8443, token: "secret-token" };
  const values = { host: "0.0.0.0", "token-file": "/home/me/token" };
  announce({ gateway, agent: "parley", values, isTokenKnown: true }, output);
  assert.match(lines.stdout, /the token file is one of this machine/);
  assert.match(lines.stdout, /--token-file \/home\/me\/token https:\/\/localhost:8443\/acp/);
});

test("an agent is called by its script, and not by what interprets it", () => {
  assert.equal(agentName("node", ["/usr/bin/node", "--eval", "some code"]), "node");
  assert.equal(agentName("node", ["node", "--inspect", "src/my-agent.ts", "--acp"]), "my-agent.ts");
  assert.equal(agentName("uvx", ["uvx", "fast-agent"]), "fast-agent");
  assert.equal(agentName("my-agent", ["my-agent", "--acp"]), "my-agent");
});
