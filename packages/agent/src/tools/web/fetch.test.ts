import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { probe, refusal } from "../../../test/support/tool-probe.ts";
import { fetchTool } from "./fetch.ts";

async function served(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const html = { "content-type": "text/html; charset=utf-8" };

test("a page is given as text, under its title, and its host is what is asked about", async (t) => {
  const host = await served(t, (_, answer) =>
    answer.writeHead(200, html).end("<title>T</title><h1>Hello</h1><p>wörld"),
  );
  const { call } = await probe(t, { web: { privateHosts: [host] } });
  const { told, prepared, result } = await call(fetchTool, { url: `http://${host}/a` });
  assert.equal(told, `T\nhttp://${host}/a\n\n# Hello\n\nwörld`);
  assert.deepEqual(prepared.presentation, { title: `Fetch http://${host}/a`, kind: "fetch" });
  assert.deepEqual(prepared.access, { type: "host", host, url: `http://${host}/a` });
  assert.deepEqual((result.rawOutput as { status: number }).status, 200);
});

test("TH14 private, loopback and link-local addresses are refused, however they are written", async (t) => {
  const { call } = await probe(t);
  const urls = [
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://localhost/",
    "http://10.1.2.3/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://100.64.0.1/",
    "http://0.0.0.0/",
    "http://[fe80::1]/",
    "http://[fd00::1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
  ];
  for (const url of urls) {
    assert.match(
      await refusal(call(fetchTool, { url })),
      /is an address of this machine or of a private network/,
      url,
    );
  }
});

test("TH14 a public name with a private address is refused, and the address that was checked is the one that is used", async (t) => {
  const host = await served(t, (request, answer) => answer.end(`you asked ${request.headers.host}`));
  const port = host.split(":")[1];
  let asked = 0;
  const addressesOf = async () => {
    asked += 1;
    return [{ address: "127.0.0.1", family: 4 as const }];
  };
  const strict = await probe(t, { web: { privateHosts: [], addressesOf } });
  assert.match(
    await refusal(strict.call(fetchTool, { url: `http://inside.example:${port}/` })),
    /private network/,
  );
  asked = 0;
  const open = await probe(t, { web: { privateHosts: [`inside.example:${port}`], addressesOf } });
  const { told } = await open.call(fetchTool, { url: `http://inside.example:${port}/` });
  assert.equal(told, `you asked inside.example:${port}`);
  assert.equal(asked, 1);
  const mixed = await probe(t, {
    web: {
      privateHosts: [],
      addressesOf: async () => [
        { address: "93.184.216.34", family: 4 },
        { address: "127.0.0.1", family: 4 },
      ],
    },
  });
  assert.match(await refusal(mixed.call(fetchTool, { url: "http://mixed.example/" })), /private network/);
});

test("TH14 redirects are followed on one host only, and not for ever", async (t) => {
  const elsewhere = await served(t, (_, answer) => answer.end("elsewhere"));
  const host = await served(t, (request, answer) => {
    const to = {
      "/a": "/b",
      "/out": `http://${elsewhere}/`,
      "/loop": "/loop",
      "/file": "file:///etc/passwd",
    }[request.url ?? ""];
    if (to === undefined) answer.end("here");
    else answer.writeHead(302, { location: to }).end();
  });
  const { call } = await probe(t, { web: { privateHosts: ["*"] } });
  assert.equal((await call(fetchTool, { url: `http://${host}/a` })).told, "here");
  assert.equal(
    (await call(fetchTool, { url: `http://${host}/out` })).told,
    `[http://${host}/out redirects to http://${elsewhere}/, another host; fetch that URL if you want it]`,
  );
  assert.match(await refusal(call(fetchTool, { url: `http://${host}/loop` })), /redirects more than 5 times/);
  assert.match(
    await refusal(call(fetchTool, { url: `http://${host}/file` })),
    /redirects to an address that cannot be fetched/,
  );
});

test("only http and https are fetched, without names and passwords", async (t) => {
  const { prepare } = await probe(t);
  assert.equal(
    await refusal(prepare(fetchTool, { url: "example.org" })),
    '"example.org" is not a URL; give one with http:// or https://',
  );
  assert.equal(
    await refusal(prepare(fetchTool, { url: "file:///etc/passwd" })),
    "only http and https can be fetched, got file://",
  );
  assert.match(
    await refusal(prepare(fetchTool, { url: "https://a:b@example.org" })),
    /must not contain a user name/,
  );
});

test("failures, binary data and unknown hosts are told in words", async (t) => {
  const host = await served(t, (request, answer) => {
    if (request.url === "/binary")
      answer.writeHead(200, { "content-type": "application/zip" }).end(Buffer.alloc(10));
    else if (request.url === "/cut") {
      answer.writeHead(200, { "content-length": "100" }).write("half");
      answer.socket?.end();
    } else answer.writeHead(404, html).end("<h1>Not here</h1>");
  });
  const { call } = await probe(t, {
    web: { privateHosts: ["*"], addressesOf: () => Promise.reject(new Error("ENOTFOUND")) },
  });
  assert.equal(
    await refusal(call(fetchTool, { url: `http://${host}/x` })),
    `http://${host}/x answered 404:\n# Not here`,
  );
  assert.equal(
    await refusal(call(fetchTool, { url: `http://${host}/binary` })),
    `http://${host}/binary is application/zip, not text`,
  );
  assert.match(await refusal(call(fetchTool, { url: `http://${host}/cut` })), /could not be fetched/);
  assert.equal(
    await refusal(call(fetchTool, { url: "http://nowhere.example/" })),
    "there is no host nowhere.example; check the address",
  );
});

test("a long page is given in parts, and a bomb is not unpacked", async (t) => {
  const host = await served(t, (request, answer) => {
    const headers = { "content-type": "text/plain", "content-encoding": "gzip" };
    const body = request.url === "/bomb" ? "x\n".repeat(20_000_000) : "line\n".repeat(2_500);
    answer.writeHead(200, headers).end(gzipSync(body));
  });
  const { call } = await probe(t, { web: { privateHosts: ["*"] } });
  const { told } = await call(fetchTool, { url: `http://${host}/` });
  assert.ok(told.endsWith("\n\n[lines 1-2000 of 2500; continue with offset=2001]"));
  const rest = await call(fetchTool, { url: `http://${host}/`, offset: 2_500 });
  assert.equal(rest.told, "line");
  const bomb = await call(fetchTool, { url: `http://${host}/bomb` });
  assert.match(bomb.told, /\[the page is longer than 5 MB; the rest was not read\]$/);
});

test("a cancelled fetch stops", async (t) => {
  const reached = Promise.withResolvers<void>();
  const host = await served(t, () => reached.resolve());
  const { call } = await probe(t, { web: { privateHosts: ["*"] } });
  const stop = new AbortController();
  const failed = assert.rejects(call(fetchTool, { url: `http://${host}/` }, stop.signal), {
    name: "AbortError",
  });
  await reached.promise;
  stop.abort();
  await failed;
});
