// What a remote client must not tell a hosted agent.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { memoryPair } from "@parley/acp/transport";
import { hostAgent, startGateway } from "@parley/gateway";
import { WebSocket } from "ws";

const server = '{"name":"evil","command":"/bin/sh","args":["-c","id"],"env":[]}';

function sessionNew(params: string, rest = ""): string {
  return `{"jsonrpc":"2.0","id":7,"method":"session/new","params":{"cwd":"/",${params}}${rest}}`;
}

const commands: readonly (readonly [name: string, text: string])[] = [
  ["a command", sessionNew(`"mcpServers":[${server}]`)],
  ["a command of version 2", sessionNew('"mcpServers":[{"type":"stdio","command":"/bin/sh"}]')],
  [
    "a command among addresses",
    sessionNew(`"mcpServers":[{"type":"http","url":"https://a.example"},${server}]`),
  ],
  ["keys in other letters", sessionNew('"MCPServers":[{"Command":"/bin/sh"}]')],
  ["keys with underscores", sessionNew('"mcp_servers":[{"command":"/bin/sh"}]')],
  ["keys that are escaped", sessionNew('"\\u006dcpServers":[{"c\\u006fmmand":"/bin/sh"}]')],
  ["servers by name", sessionNew('"mcpServers":{"evil":{"command":"/bin/sh"}}')],
  ["servers in _meta", sessionNew(`"_meta":{"vendor":{"options":{"mcpServers":{"evil":${server}}}}}`)],
  ["another method", `{"jsonrpc":"2.0","id":7,"method":"session/load","params":{"mcpServers":[${server}]}}`],
  [
    "a method of a vendor",
    `{"jsonrpc":"2.0","id":7,"method":"_vendor/new","params":{"mcpServers":[${server}]}}`,
  ],
  [
    "a method in other letters",
    `{"jsonrpc":"2.0","id":7,"Method":"session/new","Params":{"mcpServers":[${server}]}}`,
  ],
];

const wrong = [
  `[${sessionNew(`"mcpServers":[${server}]`)}]`,
  `[${sessionNew('"mcpServers":[]')}]`,
  "[]",
  "7",
  '"x"',
  "null",
  `{"jsonrpc":"2.0","id":"${"x".repeat(1_025)}","method":"_x"}`,
];

const introduction: object = { capabilities: { session: { mcp: { stdio: {}, http: {} } } } };

async function hosted(
  t: { after(work: () => unknown): void },
  allowCommands = false,
  result: object = introduction,
) {
  const got: string[] = [];
  const agent = hostAgent({
    allowCommands,
    start: async () => {
      const [transport, inside] = memoryPair();
      inside.start({
        message: (value, text) => {
          got.push(text);
          const { id } = value as { id?: unknown }; // what the test sends
          if (id !== undefined) inside.send({ jsonrpc: "2.0", id, result });
        },
        idle: () => undefined,
        reject: () => undefined,
        drain: () => undefined,
        end: () => undefined,
      });
      return { transport };
    },
  });
  const gateway = await startGateway({ connect: agent.connect });
  t.after(() => gateway.close());
  const socket = new WebSocket(gateway.url.replace("http", "ws"), {
    headers: { authorization: `Bearer ${gateway.token}` },
  });
  await once(socket, "open");
  const ask = async (text: string) => {
    socket.send(text);
    const [answer] = await once(socket, "message");
    return JSON.parse(String(answer));
  };
  const welcome = await ask('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}');
  got.length = 0;
  return { got, ask, socket, offered: welcome.result.capabilities?.session?.mcp };
}

test("a remote client cannot name commands, however it writes them (TH10, 7.6)", async (t) => {
  const { got, ask, socket, offered } = await hosted(t);
  assert.deepEqual(offered, { http: {} }, "and is not told that it can");
  for (const [name, text] of commands) {
    const { id, error } = await ask(text);
    assert.deepEqual([id, error?.code], [7, -32060], name);
    assert.match(
      error.message,
      /use their addresses, connect with --drop-mcp-commands, or ask whoever runs it for --allow-commands/,
    );
  }
  // without an id, nobody waits for an answer
  socket.send(sessionNew(`"mcpServers":[${server}]`).replace('"id":7,', ""));
  assert.deepEqual(got, []);
  assert.ok("result" in (await ask(sessionNew('"mcpServers":[{"type":"http","url":"https://a.example"}]'))));
  assert.equal(got.length, 1);
});

for (const [dialect, code, result] of [
  ["pharo", -32004, { protocolVersion: 1, agentCapabilities: {}, authenticationMethods: [] }],
  ["scoped", -32002, { protocolVersion: 1, agentInfo: { name: "a", version: "1" }, capabilities: {} }],
] as const) {
  test(`a client of ${dialect} that names a command is refused with the number of its dialect`, async (t) => {
    const { ask } = await hosted(t, false, result);
    const { error } = await ask(sessionNew(`"mcpServers":[${server}]`));
    assert.equal(error.code, code);
  });
}

test("a hosted agent is given no batches, no long ids and nothing that is no message", async (t) => {
  const { got, ask } = await hosted(t, true);
  for (const text of wrong) {
    const { id, error } = await ask(text);
    assert.deepEqual([id, error?.code], [null, -32600], text.slice(0, 100));
  }
  assert.deepEqual(got, []);
});

test("an agent is given what was looked at, and not another reading of keys that come twice (TH10)", async (t) => {
  const { got, ask } = await hosted(t);
  await ask(sessionNew(`"mcpServers":[${server}],"mcpServers":[]`));
  await ask(sessionNew(`"mcpServers":[${server}]`, ',"params":{"cwd":"/"}'));
  assert.deepEqual(
    got.filter((text) => text.includes("/bin/sh")),
    [],
  );
  const plain = '{"jsonrpc":"2.0","id":7,"method":"_x", "params":{ "n": 1.0 }}';
  await ask(plain);
  assert.equal(got.at(-1), plain, "everything else passes unchanged");
});

test("whoever runs the server can allow commands", async (t) => {
  const { got, ask, offered } = await hosted(t, true);
  assert.deepEqual(offered, { stdio: {}, http: {} });
  const text = sessionNew(`"mcpServers":[${server}]`);
  assert.ok("result" in (await ask(text)));
  assert.deepEqual(got, [text]);
});
