// HTTPS_PROXY, HTTP_PROXY and NO_PROXY for requests to models and for the fetch tool.

import assert from "node:assert/strict";
import { createServer, request as httpRequest, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { type TestContext, test } from "node:test";
import { ask, askInVain, testClock, textOf, withFake } from "../../test/fake-provider/asking.ts";
import { chatEvents } from "../../test/fake-provider/chat-wire.ts";
import { streamed } from "../../test/fake-provider/fake-provider.ts";
import { probe, refusal } from "../../test/support/tool-probe.ts";
import { chooseModel } from "../providers/choose-model.ts";
import { fetchTool } from "../tools/web/fetch.ts";
import { proxyFor } from "./proxy.ts";

const both = { HTTPS_PROXY: "http://secure:1", HTTP_PROXY: "http://plain:2" };

for (const [url, env, proxy] of [
  ["https://a.example/x", both, "http://secure:1/"],
  ["http://a.example/x", both, "http://plain:2/"],
  ["https://a.example/x", {}, undefined],
  ["https://a.example/x", { HTTP_PROXY: "http://plain:2" }, undefined],
  ["https://a.example/x", { https_proxy: "http://small:3", HTTPS_PROXY: "http://big:4" }, "http://small:3/"],
  ["https://a.example/x", { HTTPS_PROXY: "proxy:3128" }, "http://proxy:3128/"],
  ["https://a.example/x", { ...both, NO_PROXY: "b.example, a.example" }, undefined],
  ["https://deep.a.example/x", { ...both, no_proxy: ".a.example" }, undefined],
  ["https://deep.a.example/x", { ...both, NO_PROXY: "a.example" }, undefined],
  ["https://nota.example/x", { ...both, NO_PROXY: "a.example" }, "http://secure:1/"],
  ["https://a.example:8443/x", { ...both, NO_PROXY: "a.example:443" }, "http://secure:1/"],
  ["https://a.example/x", { ...both, NO_PROXY: "a.example:443" }, undefined],
  ["https://a.example/x", { ...both, NO_PROXY: "*" }, undefined],
  ["http://127.0.0.1:11434/v1", both, undefined],
  ["http://localhost/v1", both, undefined],
] as const) {
  test(`${url} with ${JSON.stringify(env)} goes ${proxy === undefined ? "directly" : `through ${proxy}`}`, () => {
    assert.equal(proxyFor(new URL(url), env), proxy);
  });
}

test("a proxy that is no http URL is refused, without its password", () => {
  const env = { HTTPS_PROXY: "socks5://me:secret@proxy:1080" };
  assert.throws(
    () => proxyFor(new URL("https://a.example"), env),
    (error: Error) => {
      return /HTTPS_PROXY is not an http or https URL/.test(error.message) && !/secret/.test(error.message);
    },
  );
});

/** A proxy that sends everything to one port of this machine, and notes what it was asked for. */
async function proxyTo(t: TestContext, port: string) {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers["proxy-authorization"] ?? ""}`.trim());
    const { pathname } = new URL(request.url ?? "");
    const { method } = request;
    const { "proxy-authorization": _, ...headers } = request.headers;
    const onward = httpRequest({ port, host: "127.0.0.1", path: pathname, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  server.on("connect", (request, socket, head) => {
    asked.push(`CONNECT ${request.url} ${request.headers["proxy-authorization"] ?? ""}`.trim());
    const onward = connect(Number(port), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      onward.write(head);
      socket.pipe(onward).pipe(socket);
    });
    for (const each of [socket, onward]) each.on("error", () => undefined);
    socket.on("close", () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sockets = new Set<{ destroy(): void }>();
  server.on("connection", (socket) => sockets.add(socket));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { asked, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test("a request to a model goes through the proxy of the environment, with the proxy's password", async (t) => {
  await withFake([streamed(chatEvents({ text: ["Hello"] }))], async (fake) => {
    const { asked, host } = await proxyTo(t, new URL(fake.url).port);
    const providers = { work: { baseUrl: "http://models.example/v1", apiKey: "k" } };
    const env = { HTTP_PROXY: `http://me:p%40ss@${host}` };
    const model = chooseModel({ model: "work/x", providers }, env, { clock: testClock() });
    assert.equal(textOf(await ask(model!)), "Hello");
    const password = `Basic ${Buffer.from("me:p@ss").toString("base64")}`;
    assert.equal(asked.length, 1);
    assert.match(asked[0] ?? "", /models\.example/);
    assert.ok(asked[0]?.endsWith(password), asked[0]);
    assert.equal(fake.requests[0]?.headers.authorization, "Bearer k");
    assert.equal(fake.requests[0]?.headers["proxy-authorization"], undefined);
  });
});

test("a proxy that is not there is an error without its password", async () => {
  const providers = { work: { baseUrl: "http://models.example/v1" } };
  const env = { HTTP_PROXY: "http://me:secret@127.0.0.1:1" };
  const options = { clock: testClock(), retries: { attempts: 1 } };
  const { error } = await askInVain(chooseModel({ model: "work/x", providers }, env, options)!);
  assert.equal(error.kind, "unavailable");
  assert.doesNotMatch(error.message, /secret/);
});

test("TH14 through a proxy, fetch still refuses private hosts, unknown ones and plain http", async (t) => {
  const { asked, host } = await proxyTo(t, "1");
  const proxyOf = () => `http://${host}`;
  const resolved = (address: string) => async () => [{ address, family: 4 as const }];
  const refused = async (url: string, addressesOf?: () => Promise<{ address: string; family: 4 }[]>) => {
    const { call } = await probe(t, {
      web: { privateHosts: [], proxyOf, ...(addressesOf && { addressesOf }) },
    });
    return refusal(call(fetchTool, { url }));
  };
  assert.match(await refused("https://10.0.0.1/"), /private network/);
  assert.match(await refused("https://inside.example/", resolved("192.168.0.1")), /private network/);
  assert.match(
    await refused("https://only-inside.example/", () => Promise.reject(new Error("ENOTFOUND"))),
    /has no address on this machine.*agent\.privateHosts/,
  );
  assert.match(
    await refused("http://public.example/", resolved("93.184.216.34")),
    /http pages are not fetched through a proxy; use https/,
  );
  assert.deepEqual(asked, [], "the proxy was not asked");
});

test("fetch asks the proxy by name for a public host, and for what the user's settings name", async (t) => {
  await withFake([(exchange) => exchange.text(200, "a page", "text/plain")], async (fake) => {
    const { asked, host } = await proxyTo(t, new URL(fake.url).port);
    const proxyOf = () => `http://${host}`;
    const open = await probe(t, { web: { privateHosts: ["inside.example"], proxyOf } });
    assert.equal((await open.call(fetchTool, { url: "http://inside.example/x" })).told, "a page");
    const addressesOf = async () => [{ address: "93.184.216.34", family: 4 as const }];
    const strict = await probe(t, { web: { privateHosts: [], proxyOf, addressesOf } });
    // the other end speaks no TLS, which is enough to see where it went
    assert.match(
      await refusal(strict.call(fetchTool, { url: "https://public.example/" })),
      /could not be fetched/,
    );
    assert.match(asked[0] ?? "", /inside\.example/);
    assert.equal(asked[1], "CONNECT public.example:443");
  });
});
