import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ElicitationRequest } from "@parley/acp";
import type { McpServer } from "@parley/acp/model";
import {
  calls,
  says,
  scriptedModel,
  type TalkOptions,
  talk,
  temporaryFolder,
} from "../../test/support/agent-probe.ts";
import { outcomesOf } from "../../test/support/mcp-probe.ts";
import { type OAuthProbe, type OAuthProbeOptions, oauthProbe } from "../../test/support/oauth-probe.ts";
import { type LookOptions, lookAtServer } from "../mcp/look-at-server.ts";
import { oauthFetch } from "./oauth-fetch.ts";

const patience = { timeout: 20_000 };

interface Place {
  readonly probe: OAuthProbe;
  readonly folder: string;
  readonly server: McpServer;
  /** What stands in the files of logins. */
  stored(): string[];
  /** Without a session, as `parley agent mcp` does. */
  look(more?: Partial<LookOptions>, server?: McpServer): ReturnType<typeof lookAtServer>;
  logIn(): Promise<void>;
}

async function place(t: TestContext, options: OAuthProbeOptions = {}): Promise<Place> {
  const probe = await oauthProbe(t, options);
  const folder = join(temporaryFolder(t, {}), "logins");
  const server: McpServer = { type: "http", name: "tracker", url: probe.url, headers: [] };
  const look: Place["look"] = (more = {}, looked = server) =>
    lookAtServer(looked, {
      version: "1",
      cwd: folder,
      privateHosts: [probe.authHost],
      loginFolder: folder,
      ...more,
    });
  const files = () => readdirSync(folder).filter((name) => name.endsWith(".json"));
  return {
    probe,
    folder,
    server,
    stored: () => files().map((name) => readFileSync(join(folder, name), "utf8")),
    look,
    async logIn() {
      const { state } = await look({
        async logIn(login) {
          const [finished] = await Promise.all([
            login.finish(new AbortController().signal),
            probe.visit(login.page),
          ]);
          return finished;
        },
      });
      assert.equal(state, "ready");
    },
  };
}

/** A session in which the model calls the server's tool in each turn. */
async function session(t: TestContext, { probe, folder, server }: Place, more: Partial<TalkOptions> = {}) {
  const turn = [calls(["tracker/whoami", {}]), says("done")];
  const model = scriptedModel([...turn, ...turn, ...turn]);
  const link = await talk({
    version: 2,
    cwd: temporaryFolder(t, {}),
    models: [model],
    answers: Array(3).fill("allow_once"),
    privateHosts: [probe.authHost],
    mcp: { servers: [server], loginFolder: folder },
    ...more,
  });
  t.after(() => link.end());
  return { ...link, model };
}

function visiting(probe: OAuthProbe, pages: ElicitationRequest[] = []): Partial<TalkOptions> {
  return {
    clientDefinition: {
      elicit: async (ask: ElicitationRequest) => {
        pages.push(ask);
        if (ask.mode === "url") await probe.visit(ask.url);
        return { action: "accept" as const };
      },
    },
  };
}

function assertNoTokens(probe: OAuthProbe, ...texts: readonly unknown[]): void {
  const shown = texts.map((each) => JSON.stringify(each)).join("\n");
  for (const token of probe.tokens) assert.equal(shown.includes(token), false, token);
}

test(
  "a server that needs a login: the user opens the page, and the same turn uses its tools",
  patience,
  async (t) => {
    const at = await place(t);
    const pages: ElicitationRequest[] = [];
    const { session: open, updates, model, log, asks } = await session(t, at, visiting(at.probe, pages));
    await open.prompt("who am I?").result;
    assert.equal(pages.length, 1);
    assert.match(
      pages[0]?.message ?? "",
      /^The MCP server tracker wants you to log in at 127\.0\.0\.1:\d+\.$/,
    );
    assert.deepEqual(at.probe.called, ["whoami"]);
    // the server repeats its token, and nobody sees it
    assert.deepEqual(outcomesOf(model), ["you have ***"]);
    assert.equal(at.probe.tokens.length, 2);
    assertNoTokens(at.probe, updates, model.sent, log, asks);
    assert.equal(at.stored().length, 1);
    for (const name of readdirSync(at.folder))
      assert.equal(statSync(join(at.folder, name)).mode & 0o777, 0o600, name);
    assert.equal(statSync(at.folder).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(at.folder).length, 1, "no lock and no draft is left");
  },
);

test(
  "a client that opens no pages is told the command, and a login by it is used by the next turn",
  patience,
  async (t) => {
    const at = await place(t);
    const { session: open, updates, model } = await session(t, at);
    await open.prompt("who am I?").result;
    const advice = `The MCP server tracker needs a login: run parley agent mcp login ${at.probe.url}.`;
    assert.ok(JSON.stringify(updates).includes(advice), JSON.stringify(updates));
    assert.equal(at.probe.asked.length, 0, "nothing was registered before the user wanted it");
    await at.logIn();
    await open.prompt("and now?").result;
    assert.deepEqual(outcomesOf(model).at(-1), "you have ***");
  },
);

test(
  "a login that the user declines is asked for once, and the conversation goes on",
  patience,
  async (t) => {
    const at = await place(t);
    let asked = 0;
    const decline = () => {
      asked++;
      return { action: "decline" as const };
    };
    const { session: open, updates } = await session(t, at, { clientDefinition: { elicit: decline } });
    assert.equal((await open.prompt("one").result).stopReason, "end_turn");
    assert.equal((await open.prompt("two").result).stopReason, "end_turn");
    assert.equal(asked, 1);
    assert.match(JSON.stringify(updates), /needs a login: run parley agent mcp login/);
  },
);

test("a login that the server denies is reported", patience, async (t) => {
  const at = await place(t, { denies: true });
  const { session: open, updates } = await session(t, at, visiting(at.probe));
  await open.prompt("one").result;
  assert.match(
    JSON.stringify(updates),
    /The login to the MCP server tracker failed: the login was refused: access_denied\./,
  );
});

test("the turn can be cancelled while the user is at the page", patience, async (t) => {
  const at = await place(t);
  const asked = Promise.withResolvers<void>();
  const elicit = () => {
    asked.resolve();
    return { action: "accept" as const };
  };
  const { session: open } = await session(t, at, { clientDefinition: { elicit } });
  const turn = open.prompt("one");
  await asked.promise;
  await open.cancel();
  assert.equal((await turn.result).stopReason, "cancelled");
});

test(
  "an access token that ended is renewed without the user, and the new tokens are stored",
  patience,
  async (t) => {
    const at = await place(t);
    await at.logIn();
    at.probe.expire();
    const [before] = at.stored();
    const { session: open, model } = await session(t, at);
    await open.prompt("who am I?").result;
    assert.deepEqual(outcomesOf(model), ["you have ***"]);
    assert.deepEqual(at.probe.grants, ["authorization_code", "refresh_token"]);
    assert.notEqual(at.stored()[0], before);
    at.probe.expire();
    await open.prompt("again").result;
    assert.deepEqual(at.probe.grants.slice(2), ["refresh_token"]);
    assert.equal(outcomesOf(model).length, 2);
  },
);

test("a token that is about to end is renewed before it is refused", patience, async (t) => {
  const at = await place(t, { expiresIn: 10 });
  await at.logIn();
  const { state } = await at.look();
  assert.equal(state, "ready");
  assert.equal(at.probe.grants.filter((grant) => grant === "refresh_token").length > 0, true);
});

test(
  "several that renew a login at once do not lose it, though each refresh token works once",
  patience,
  async (t) => {
    const at = await place(t);
    await at.logIn();
    at.probe.expire();
    const looks = await Promise.all([at.look(), at.look(), at.look(), at.look()]);
    assert.deepEqual(
      looks.map(({ state }) => state),
      Array(4).fill("ready"),
    );
    assert.deepEqual(at.probe.grants, ["authorization_code", "refresh_token"]);
  },
);

test("the lock of a process that is gone does not stop a renewal", patience, async (t) => {
  const at = await place(t);
  await at.logIn();
  at.probe.expire();
  const [file = ""] = readdirSync(at.folder);
  // no process has this id
  writeFileSync(join(at.folder, `${file}.lock`), "4194999 gone");
  assert.equal((await at.look()).state, "ready");
  assert.deepEqual(readdirSync(at.folder), [file]);
});

test(
  "a login that the server does not accept any more is forgotten, and its words are not shown",
  patience,
  async (t) => {
    for (const noRefresh of [false, true]) {
      const at = await place(t, { noRefresh });
      await at.logIn();
      at.probe.revoke();
      const { session: open, updates, log } = await session(t, at);
      await open.prompt("who am I?").result;
      assert.match(JSON.stringify(updates), /needs a login: run parley agent mcp login/);
      assert.deepEqual(at.stored(), []);
      assertNoTokens(at.probe, updates, log);
    }
  },
);

test(
  "an authorisation server that cannot be reached is named, and the login is kept",
  patience,
  async (t) => {
    const at = await place(t);
    await at.logIn();
    at.probe.expire();
    const [file = ""] = readdirSync(at.folder);
    const text = readFileSync(join(at.folder, file), "utf8");
    // nothing listens on port 1
    writeFileSync(join(at.folder, file), text.replaceAll(`${at.probe.authHost}/token`, "127.0.0.1:1/token"));
    const { state, problem } = await at.look({ privateHosts: ["127.0.0.1"] });
    assert.equal(state, "failed");
    assert.equal(
      problem,
      "The MCP server tracker cannot be used: its login could not be renewed: 127.0.0.1:1 cannot be reached: ECONNREFUSED.",
    );
    assert.equal(at.stored().length, 1);
  },
);

test(
  "a call that needs more rights: the user is asked with the next turn, and it then works",
  patience,
  async (t) => {
    const at = await place(t, { scope: "write" });
    const pages: ElicitationRequest[] = [];
    const turn = [calls(["tracker/other", {}]), says("done")];
    const model = scriptedModel([...turn, ...turn]);
    const { session: open } = await session(t, at, { ...visiting(at.probe, pages), models: [model] });
    await open.prompt("one").result;
    assert.deepEqual(outcomesOf(model), [
      "The MCP server tracker needs more permissions than your login has: log in again.",
    ]);
    await open.prompt("two").result;
    assert.equal(pages.length, 2);
    assert.match(JSON.stringify(pages.at(-1)), /[?&]scope=write[&"]/);
    assert.deepEqual(at.probe.called, ["other"]);
  },
);

test("a callback without the state of the login is ignored, whoever sends it", patience, async (t) => {
  const at = await place(t);
  const { state } = await at.look({
    async logIn(login) {
      const forged = await at.probe.visit(login.page, (url) => url.searchParams.set("state", "guessed"));
      assert.equal(forged.status, 404);
      const missing = await at.probe.visit(login.page, (url) => url.searchParams.delete("state"));
      assert.equal(missing.status, 404);
      const done = login.finish(new AbortController().signal);
      assert.equal((await at.probe.visit(login.page)).status, 200);
      await done;
    },
  });
  assert.equal(state, "ready");
});

test("a code that another authorisation server sends is not used", patience, async (t) => {
  const at = await place(t);
  const failed = at.look({
    async logIn(login) {
      const forge = (url: URL) => url.searchParams.set("iss", "https://evil.example");
      await Promise.all([login.finish(new AbortController().signal), at.probe.visit(login.page, forge)]);
    },
  });
  await assert.rejects(
    failed,
    /tracker failed: the answer did not come from the server where the login began\.$/,
  );
  assert.deepEqual(at.probe.grants, []);
});

test("the address that a browser elsewhere was led to can be pasted", patience, async (t) => {
  const at = await place(t);
  const { state } = await at.look({
    async logIn(login) {
      assert.equal(login.take("http://127.0.0.1:1/callback?code=x&state=guessed"), false);
      const answer = await fetch(login.page, { redirect: "manual" });
      assert.equal(login.take(answer.headers.get("location") ?? ""), true);
      await login.finish(new AbortController().signal);
    },
  });
  assert.equal(state, "ready");
});

const begins: Partial<LookOptions> = { logIn: async () => assert.fail("the page must not be shown") };

test(
  "TH14 an authorisation server at a private address that nobody named is not asked",
  patience,
  async (t) => {
    const at = await place(t);
    const named = { ...begins, privateHosts: [] };
    await assert.rejects(at.look(named), /private network.*add it to agent\.privateHosts/);
    const ofWorkspace = { ...at.server, _meta: { "_parley.dev/origin": "workspace" } };
    await assert.rejects(
      at.look({ ...begins, privateHosts: [at.probe.host] }, ofWorkspace),
      /private network/,
    );
    assert.deepEqual(at.probe.asked, []);
  },
);

test(
  "TH14 metadata, pages and tokens at private addresses are refused, and so are pages that are none",
  patience,
  async (t) => {
    const inside = await oauthProbe(t);
    const secret = `http://${inside.authHost}/token`;
    for (const metadata of [
      { authorization_endpoint: `http://${inside.authHost}/authorize` },
      { registration_endpoint: `http://${inside.authHost}/register` },
      { authorization_endpoint: "javascript:alert(1)" },
      { authorization_endpoint: "file:///etc/passwd" },
    ]) {
      const at = await place(t, { metadata });
      await assert.rejects(at.look(begins), /failed/, JSON.stringify(metadata));
    }
    const tokens = await place(t, { metadata: { token_endpoint: secret } });
    const failed = tokens.look({
      async logIn(login) {
        const done = login.finish(new AbortController().signal);
        await Promise.all([done, tokens.probe.visit(login.page)]);
      },
    });
    await assert.rejects(failed, /private network/);
    const resource = await place(t, {
      resourceMetadataUrl: `http://${inside.host}/.well-known/oauth-protected-resource/mcp`,
    });
    await assert.rejects(resource.look(begins), /private network/);
    assert.deepEqual(inside.asked, []);
  },
);

test("a server whose headers have its credentials is not logged in to", patience, async (t) => {
  const at = await place(t);
  const headers = [{ name: "authorization", value: "Bearer wrong-token-of-mine" }];
  const { state, problem } = await at.look(begins, {
    type: "http",
    name: "tracker",
    url: at.probe.url,
    headers,
  });
  assert.equal(state, "failed");
  assert.match(problem ?? "", /^The MCP server tracker refused the connection \(401\): check its headers\.$/);
});

test("the headers of a server do not go to its authorisation server", patience, async (t) => {
  const at = await place(t);
  const headers = [{ name: "X-Key", value: "birch-lake-7" }];
  await at.look(
    {
      async logIn(login) {
        await Promise.all([login.finish(new AbortController().signal), at.probe.visit(login.page)]);
      },
    },
    { type: "http", name: "tracker", url: at.probe.url, headers },
  );
  assert.ok(at.probe.askedWith.length >= 4);
  assert.ok(at.probe.askedWith.every((each) => each["x-key"] === undefined));
});

test("the user's own registration is used where a server takes no others", patience, async (t) => {
  const at = await place(t, { metadata: { registration_endpoint: undefined } });
  const own = { ...at.server, _meta: { oauth: { clientId: "own-client", scope: "read write" } } };
  const { state } = await at.look(
    {
      async logIn(login) {
        assert.equal(new URL(login.page).searchParams.get("scope"), "read write");
        await Promise.all([login.finish(new AbortController().signal), at.probe.visit(login.page)]);
      },
    },
    own,
  );
  assert.equal(state, "ready");
  await assert.rejects(
    (await place(t, { metadata: { registration_endpoint: undefined } })).look(begins),
    /failed/,
  );
});

test("a damaged file of a login counts as none", patience, async (t) => {
  const at = await place(t);
  await at.logIn();
  const [file = ""] = readdirSync(at.folder);
  writeFileSync(join(at.folder, file), '{"version":1,"tokens":');
  assert.equal((await at.look()).state, "needs_login");
});

test("TH13 an answer of an authorisation server that does not end is given up", async () => {
  let sent = 0;
  const body = () =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        controller.enqueue(new Uint8Array(64 * 1024));
      },
    });
  for (const status of [200, 400]) {
    const { fetch } = oauthFetch(async () => new Response(body(), { status }));
    await assert.rejects(async () => fetch("https://auth.example/token", { method: "POST" }), {
      message: "auth.example cannot be reached: its answer is too long",
    });
  }
  assert.ok(sent < 100, `${sent} pieces were read`);
});
