import assert from "node:assert/strict";
import { test } from "node:test";
import { checkOwnServers, ownServers } from "./own-mcp.ts";

// not a template: it is replaced when the agent starts
const variable = (name: string) => ["$", "{", name, "}"].join("");

test("variables in an entry of agent.mcpServers come from the environment, wherever they stand", () => {
  const { servers, problems } = ownServers(
    {
      mcpServers: {
        local: {
          command: `${variable("HOME_DIR")}/bin/x`,
          args: ["--level", variable("LEVEL:-info"), variable("EMPTY:-")],
          env: { KEY: variable("KEY") },
          cwd: variable("HOME_DIR"),
          tools: ["a"],
        },
        far: {
          url: `https://${variable("HOST")}/mcp`,
          headers: { "X-Key": `v ${variable("KEY")}` },
          oauth: { clientId: "c", clientSecret: variable("KEY") },
        },
        off: { command: variable("NOWHERE"), disabled: true },
      },
    },
    { HOME_DIR: "/home/me", KEY: "k1", HOST: "h.example" },
  );
  assert.deepEqual(problems, []);
  const origin = { "_parley.dev/origin": "user" };
  assert.deepEqual(servers, [
    {
      type: "stdio",
      name: "local",
      command: "/home/me/bin/x",
      args: ["--level", "info", ""],
      env: [{ name: "KEY", value: "k1" }],
      _meta: { ...origin, cwd: "/home/me", tools: ["a"] },
    },
    {
      type: "http",
      name: "far",
      url: "https://h.example/mcp",
      headers: [{ name: "X-Key", value: "v k1" }],
      _meta: { ...origin, oauth: { clientId: "c", clientSecret: "k1" } },
    },
  ]);
});

test("each variable that is missing is named, and other servers are used", () => {
  const mcpServers = {
    a: { command: variable("ONE"), args: [variable("TWO"), variable("ONE")] },
    b: { command: "b" },
    c: { args: [] },
  };
  const { servers, problems } = ownServers({ mcpServers }, { TWO: "" });
  assert.deepEqual(
    servers.map(({ name }) => name),
    ["b"],
  );
  assert.match(
    problems[0] ?? "",
    /^The MCP server a is not started: the environment of the agent has no ONE, TWO, which/,
  );
  assert.match(
    problems[1] ?? "",
    /^The MCP server c is not started: the MCP server c needs a command or a url/,
  );
  assert.throws(
    () => checkOwnServers({ mcpServers: { d: { command: "d", oauth: {} } } }),
    /d has oauth without a url/,
  );
});
