// Hosts by name: what a sandboxed program reaches through the forwarder, and who decides.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { hostForwarder } from "@parley/sandbox";
import { withHosts } from "../../test/support/required-sandbox.ts";
import { runIn, workplace } from "../../test/support/workplace.ts";

/** A server of the host on a free port. */
async function server(t: { after(close: () => void): void }): Promise<number> {
  const http = createServer((_, response) => void response.end("answer\n")).listen(0, "127.0.0.1");
  await new Promise((resolve) => http.once("listening", resolve));
  t.after(() => {
    http.closeAllConnections();
    http.close();
  });
  return (http.address() as AddressInfo).port; // it listens on a port
}

test(
  "a program reaches the hosts that are allowed, and each refusal is known exactly",
  withHosts,
  async (t) => {
    const { work, open } = workplace(t);
    const port = await server(t);
    const asked: string[] = [];
    await using network = await hostForwarder({
      decide: async (host, to) => {
        asked.push(`${host}:${to}`);
        return host === "localhost" && to === port;
      },
    });
    const sandbox = await open({ network });
    const script = `
    curl -sS --noproxy '' http://LOCALHOST:${port}/; curl -sS --noproxy '' -p http://localhost:${port}/
    curl -sS --noproxy '' -x socks5h://127.0.0.1:1080 http://localhost:${port}/
    curl -sS --noproxy '' -o /dev/null -w '%{http_code}\\n' http://refused.example/
    curl -sS --noproxy '' -x socks5h://127.0.0.1:1080 https://socks.example/ || echo refused
    curl -sS --noproxy '' -o /dev/null -w '%{http_code}\\n' http://0x7f.1:${port}/
    curl -sS --noproxy '*' http://127.0.0.1:${port}/ || echo unreachable`;
    const { stdout, stderr } = await runIn(sandbox, script, { cwd: work });
    assert.equal(stdout, "answer\nanswer\nanswer\n403\nrefused\n403\nunreachable\n", stderr);
    assert.deepEqual(asked, [
      `localhost:${port}`,
      `localhost:${port}`,
      `localhost:${port}`,
      "refused.example:80",
      "socks.example:443",
      `127.0.0.1:${port}`,
    ]);
  },
);

test("the name of an allowed host that leads to a private address is refused", withHosts, async (t) => {
  const { work, open } = workplace(t);
  const port = await server(t);
  const refused: string[] = [];
  await using network = await hostForwarder({
    decide: () => true,
    onUnreachable: (host, _port, reason) => refused.push(`${host}: ${reason}`),
  });
  const sandbox = await open({ network });
  // the only other name that leads to this machine wherever the test runs
  const name = hostname().toLowerCase();
  const script = `curl -sS --noproxy '' -o /dev/null -w '%{http_code}\\n' http://${name}:${port}/`;
  const { stdout } = await runIn(sandbox, script, { cwd: work });
  if (stdout === "502\n") return t.skip(`${name} has no address`);
  assert.equal(stdout, "403\n");
  assert.equal(refused.length, 1);
  assert.match(refused[0] ?? "", /resolved to/);
});

test("only its user reaches a forwarder, and it ends with its connections", withHosts, async (t) => {
  const port = await server(t);
  const network = await hostForwarder({ decide: () => true });
  assert.equal(statSync(network.folder).mode & 0o777, 0o700);
  const socket = connect(`${network.folder}/http.sock`);
  const ended = new Promise((resolve) => socket.once("close", resolve));
  socket.write(`CONNECT localhost:${port} HTTP/1.1\r\n\r\n`);
  await new Promise((resolve) => socket.once("data", resolve));
  await network.close();
  await ended;
  assert.equal(existsSync(network.folder), false);
  await network.close();
});

test("the folder for temporary files may have a name that is too long for sockets", withHosts, async (t) => {
  const { base, work, open } = workplace(t);
  const port = await server(t);
  const { TMPDIR } = process.env;
  const folder = join(base, "long".repeat(30));
  mkdirSync(folder);
  process.env["TMPDIR"] = folder;
  t.after(() => {
    if (TMPDIR === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = TMPDIR;
  });
  await using network = await hostForwarder({ decide: () => true, privateAddresses: ["127.0.0.1"] });
  assert.ok(network.folder.startsWith(folder));
  const script = `curl -sS --noproxy '' http://localhost:${port}/`;
  const { stdout } = await runIn(await open({ network }), script, { cwd: work });
  assert.equal(stdout, "answer\n");
  await network.close();
  assert.equal(existsSync(network.folder), false);
});

test("a command that ends does not wait for the bridge, and has its own status", withHosts, async (t) => {
  const { work, open } = workplace(t);
  await using network = await hostForwarder({ decide: () => false });
  const sandbox = await open({ network });
  const { code, stdout, stderr } = await runIn(sandbox, "jobs; echo $0 $#; exit 9", { cwd: work });
  assert.deepEqual([code, stdout, stderr], [9, "sh 0\n", ""]);
});
