import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import type { McpServer } from "@parley/acp/model";
import { says, scriptedModel, talk, temporaryFolder } from "../../test/support/agent-probe.ts";
import { checkedFetch } from "../network/pinned-request.ts";

interface Listening {
  readonly host: string;
  readonly requests: IncomingMessage[];
}

async function listening(t: TestContext, listener: RequestListener): Promise<Listening> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, answer) => {
    requests.push(request);
    listener(request, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

const headers = [{ name: "X-Key", value: "birch-lake-7" }];
const ofWorkspace = { "_parley.dev/origin": "workspace" };

const server = (
  url: string,
  more: { type?: "http" | "sse"; _meta?: Record<string, unknown> } = {},
): McpServer => ({
  type: "http",
  name: "remote",
  url,
  headers,
  ...more,
});

/** What the user is told of the servers of a session. */
async function failures(
  t: TestContext,
  mcpServers: readonly McpServer[],
  privateHosts: readonly string[] = [],
) {
  const model = scriptedModel([says("done")]);
  const cwd = temporaryFolder(t, {});
  const link = await talk({ version: 1, cwd, models: [model], mcpServers, privateHosts });
  await link.session.prompt("go").result;
  await link.end();
  return JSON.stringify(link.updates);
}

const notFound: RequestListener = (_, answer) => answer.writeHead(404).end();

test("TH14 an MCP server that only the workspace names must be at a public address, however it is written", async (t) => {
  const { host, requests } = await listening(t, notFound);
  const port = host.split(":")[1];
  const urls = [
    `http://127.0.0.1:${port}/mcp`,
    `http://2130706433:${port}/mcp`,
    `http://0177.0.0.1:${port}/mcp`,
    `http://0x7f.1:${port}/mcp`,
    `http://localhost:${port}/mcp`,
    `http://0.0.0.0:${port}/mcp`,
    `http://[::1]:${port}/mcp`,
    `http://[::ffff:127.0.0.1]:${port}/mcp`,
    "http://169.254.169.254/latest/meta-data/",
    "http://10.0.0.1/mcp",
    "https://172.16.0.1/mcp",
    "http://192.168.0.1/mcp",
    "http://100.64.0.1/mcp",
    "http://[fe80::1]/mcp",
    "http://[fc00::1]/mcp",
  ];
  const servers = urls.flatMap((url) => [
    server(url, { _meta: ofWorkspace }),
    server(url, { type: "sse", _meta: ofWorkspace }),
  ]);
  const told = await failures(t, servers);
  assert.equal(
    told.match(/is an address of this machine or of a private network/g)?.length,
    servers.length,
    told,
  );
  assert.match(told, /add it to agent\.privateHosts in the config/);
  assert.equal(requests.length, 0);
});

test("TH14 the server that the user named is reached at exactly its host and port", async (t) => {
  const { host, requests } = await listening(t, notFound);
  await failures(t, [server(`http://${host}/mcp`)]);
  assert.ok(requests.length > 0);
  assert.ok(requests.every((request) => request.headers["x-key"] === "birch-lake-7"));
});

test("TH14 the user's settings can name a private host of a workspace's server", async (t) => {
  const { host, requests } = await listening(t, notFound);
  await failures(t, [server(`http://${host}/mcp`, { _meta: ofWorkspace })], [host]);
  assert.ok(requests.length > 0);
});

for (const type of ["http", "sse"] as const) {
  test(`TH14 a redirect leads neither to another private address nor takes the headers there (${type})`, async (t) => {
    const inside = await listening(t, notFound);
    const { host, requests } = await listening(t, (_, answer) =>
      answer.writeHead(307, { location: `http://${inside.host}/mcp` }).end(),
    );
    await failures(t, [server(`http://${host}/mcp`, { type })]);
    await failures(t, [server(`http://${host}/mcp`, { type, _meta: ofWorkspace })], [host]);
    assert.ok(requests.length >= 2);
    assert.equal(inside.requests.length, 0);
  });
}

test("a redirect on the server's own host is followed, with its headers", async (t) => {
  const { host, requests } = await listening(t, (request, answer) => {
    if (request.url === "/mcp") answer.writeHead(307, { location: "/v2" }).end();
    else answer.writeHead(404).end();
  });
  await failures(t, [server(`http://${host}/mcp`)]);
  await failures(t, [server(`http://${host}/mcp`, { _meta: ofWorkspace })], [host]);
  const followed = requests.filter(({ url, method }) => url === "/v2" && method === "POST");
  assert.equal(followed.length, 2);
  assert.ok(followed.every((request) => request.headers["x-key"] === "birch-lake-7"));
});

test("TH14 a name is resolved once, and the address that was checked is the one that is used", async (t) => {
  const { host, requests } = await listening(t, (request, answer) =>
    answer.end(`for ${request.headers.host}`),
  );
  const url = `http://rebind.example:${host.split(":")[1]}/`;
  const answers = ["127.0.0.1", "192.0.2.1"];
  let asked = 0;
  const addressesOf = async () => [{ address: answers[asked++] ?? "", family: 4 as const }];
  const named = checkedFetch({ privateHosts: ["rebind.example"], ownOrigin: undefined, addressesOf });
  assert.equal(await (await named(url, { method: "POST", body: "{}" })).text(), `for ${new URL(url).host}`);
  assert.equal(asked, 1);
  const addresses = [
    { address: "93.184.216.34", family: 4 as const },
    { address: "127.0.0.1", family: 4 as const },
  ];
  const strange = checkedFetch({
    privateHosts: [],
    ownOrigin: undefined,
    addressesOf: async () => addresses,
  });
  await assert.rejects(strange(url), /private network/);
  // another port of the host that the user named
  const own = checkedFetch({ privateHosts: [], ownOrigin: "http://127.0.0.1:1" });
  await assert.rejects(own(`http://${host}/`), /private network/);
  assert.equal(requests.length, 1);
});
