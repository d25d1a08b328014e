// A web page in a real browser, with the installed @parley/acp: examples/browser.html, from another origin than the gateway.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { agent, type Transport } from "@parley/acp";
import { type Gateway, startGateway } from "@parley/gateway";
import type { Browser, Page } from "playwright-core";
import { FaultProxy } from "../../packages/acp/test/support/fault-proxy.ts";
import { Random } from "../../packages/acp/test/support/random.ts";
import { certificate } from "../../packages/gateway/test/support/certificate.ts";
import { root } from "../source-files.ts";
import { installedBrowser, type Site, serveSite, startBrowser } from "./browser.ts";

const program = installedBrowser();
const needs = {
  timeout: 60_000,
  skip:
    program === undefined && "no Chromium was found on PATH; install it, on Debian: apt-get install chromium",
};

/** HTTP/1.1 and HTTP/2, plain and encrypted sockets. */
const ways = [
  ["http", "v1"],
  ["https", "v2"],
  ["ws", "v2"],
  ["wss", "v1"],
] as const;

interface Setting {
  readonly edition: "v1" | "v2";
  readonly isEncrypted: boolean;
}

interface Stage {
  readonly site: Site;
  readonly proxy: FaultProxy;
  readonly gateway: Gateway;
  /** The connections that the agent got. */
  readonly served: readonly Transport[];
  /** Where the agent waits in the last turn. */
  readonly gates: () => readonly [said: PromiseWithResolvers<void>, allowed: PromiseWithResolvers<void>];
}

/** Registers the tests. `project` is the folder in which the packages are installed. */
export function testPages(project: () => string): void {
  let starting: Promise<Browser> | undefined;

  after(async () => (await starting)?.close());

  async function open(t: TestContext, site: Site): Promise<Visit> {
    assert.ok(program);
    starting ??= startBrowser(program);
    const browser = await starting;
    // nobody has signed the certificate
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    t.after(() => context.close());
    context.setDefaultTimeout(20_000);
    const visit = new Visit(await context.newPage());
    await visit.page.goto(site.origin);
    return visit;
  }

  for (const [scheme, edition] of ways) {
    const title = `a web page prompts by ${scheme}: (${edition}), answers a question, is cut off twice, and shows what an uncut one shows (TH19, TH28)`;
    test(title, needs, async (t) => {
      const stage = await serveAgent(t, project(), {
        edition,
        isEncrypted: scheme === "https" || scheme === "wss",
      });
      const url = `${scheme}://127.0.0.1:${stage.proxy.port}/acp`;

      const whole = await open(t, stage.site);
      await whole.begin(url, stage.gateway.token);
      for (const gate of stage.gates()) gate.resolve();
      await whole.answer("Allow");
      assert.equal(await whole.end(), "end_turn");
      assert.equal(await whole.transcript(), "hello\none two \n[Delete notes.txt: completed]\nthree");

      const cut = await open(t, stage.site);
      await cut.begin(url, stage.gateway.token);
      stage.proxy.down();
      await detached(stage);
      // said and asked while nobody is there
      const [said, allowed] = stage.gates();
      said.resolve();
      stage.proxy.up();
      await cut.question("Allow");
      stage.proxy.down();
      await detached(stage);
      // answered while the server cannot be reached
      await cut.answer("Allow");
      allowed.resolve();
      stage.proxy.up();
      assert.equal(await cut.end(), "end_turn");
      assert.equal(await cut.transcript(), await whole.transcript());

      assert.equal(stage.served.length, 2, "a cut does not open a new connection");
      const asked = [...whole.addresses, ...cut.addresses];
      assert.deepEqual(
        asked.filter((address) => address.includes(stage.gateway.token)),
        [],
      );
      const tickets = cut.addresses.filter((address) => address.endsWith("/ticket"));
      assert.ok(
        scheme.startsWith("http") ? tickets.length === 0 : tickets.length >= 3,
        "a ticket for each socket",
      );
      assert.deepEqual([...whole.errors, ...cut.errors], []);
    });
  }

  test(
    "a web page of another origin cannot connect, and no agent is started for it (TH19)",
    needs,
    async (t) => {
      const stage = await serveAgent(t, project(), { edition: "v2", isEncrypted: false });
      await using stranger = await serveSite(join(root, "examples/browser.html"), project());
      for (const scheme of ["http", "ws"]) {
        const visit = await open(t, stranger);
        const url = `${scheme}://127.0.0.1:${stage.proxy.port}/acp`;
        await visit.connect(url, stage.gateway.token);
        const state = await visit.end();
        assert.match(state, /^failed: .*--allow-origin http/, "the usual cause is named");
        assert.equal(state.split("Failed to fetch").length - 1, scheme === "http" ? 1 : 0, state);
      }
      assert.equal(stage.served.length, 0);
    },
  );
}

/** A gateway behind a proxy that can be cut off, and a site whose pages it admits. */
async function serveAgent(
  t: TestContext,
  project: string,
  { edition, isEncrypted }: Setting,
): Promise<Stage> {
  const site = await serveSite(join(root, "examples/browser.html"), project);
  t.after(() => site[Symbol.asyncDispose]());
  const newGates = () => [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  let gates = newGates();
  const helper = agent({
    name: "helper",
    version: "1.0.0",
    editions: [edition],
    async prompt(turn) {
      gates = newGates();
      const [said, allowed] = gates;
      await turn.say("one ");
      await said.promise;
      await turn.say("two ");
      await turn.tool({ title: "Delete notes.txt", kind: "delete", permission: true }, () => allowed.promise);
      await turn.say("three");
    },
  });
  const served: Transport[] = [];
  const proxy = new FaultProxy(0, new Random(1));
  await proxy.listen();
  const gateway = await startGateway({
    connect(transport) {
      served.push(transport);
      return helper.connect(transport);
    },
    ...(isEncrypted && { tls: certificate() }),
    allowedOrigins: [site.origin],
    allowedHosts: [`127.0.0.1:${proxy.port}`],
  });
  proxy.target = gateway.port;
  t.after(async () => {
    await gateway.close();
    await proxy.stop();
  });
  return { site, proxy, gateway, served, gates: () => gates };
}

/** Resolves when the gateway has noticed that the last client has gone. */
async function detached({ served }: Stage): Promise<void> {
  const { attachment } = served.at(-1) ?? {};
  assert.ok(attachment);
  if (!attachment.isAttached) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = attachment.onChange(() => {
    if (!attachment.isAttached) resolve();
  });
  await promise;
  stop();
}

/** What a user does on the page. */
class Visit {
  readonly page: Page;
  readonly addresses: string[] = [];
  /** Errors of the page that nothing handled. */
  readonly errors: string[] = [];

  constructor(page: Page) {
    this.page = page;
    page.on("request", (request) => this.addresses.push(request.url()));
    page.on("websocket", (socket) => this.addresses.push(socket.url()));
    page.on("pageerror", (error) => this.errors.push(String(error)));
  }

  async connect(url: string, token: string): Promise<void> {
    const fields = { url, token, cwd: "/" };
    for (const [name, value] of Object.entries(fields)) await this.page.fill(`[name=${name}]`, value);
    await this.page.click("text=Connect");
  }

  /** Connects, prompts and reads the first words of the answer. */
  async begin(url: string, token: string): Promise<void> {
    await this.connect(url, token);
    await this.page.fill("[name=text]", "hello");
    await this.page.click("text=Send");
    await this.page.waitForFunction("transcript.textContent.includes('one')");
  }

  async question(answer: string): Promise<void> {
    await this.page.waitForSelector(`#question >> text=${answer}`);
  }

  async answer(answer: string): Promise<void> {
    await this.page.click(`#question >> text=${answer}`);
  }

  /** What the page says at last. */
  async end(): Promise<string> {
    await this.page.waitForFunction("/^(?!connected)[^.]/.test(state.textContent)");
    return (await this.page.textContent("#state")) ?? "";
  }

  async transcript(): Promise<string> {
    return (await this.page.textContent("#transcript")) ?? "";
  }
}
