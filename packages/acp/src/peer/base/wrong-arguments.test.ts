// Tests the TypeErrors for wrong arguments from JavaScript callers.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  conversation,
  inEveryVersion,
  openSession,
  type Prompted,
  place,
} from "../../../test/support/peer-probe.ts";
import { agent, client, RequestError } from "../../index.ts";
import { memoryPair } from "../../transport.ts";

const who = { name: "n", version: "1" };
const prompt: Prompted = () => undefined;

function wrong(message: RegExp): { name: string; message: RegExp } {
  return { name: "TypeError", message };
}

test("agent() and client() say what a definition needs", () => {
  const untyped = { agent, client } as unknown as Record<"agent" | "client", (definition?: unknown) => void>;
  assert.throws(
    () => untyped.client(),
    wrong(/^client: expected an object with name and version, got nothing$/),
  );
  assert.throws(() => untyped.agent("x"), wrong(/^agent: expected an object with .* and prompt, got "x"$/));
});

test("a misspelt name in a definition is refused with the right one and the list of all", () => {
  const misspelt = {
    promt: "prompt",
    Title: "title",
    sesion: "session",
    promptCapabilites: "promptCapabilities",
    editons: "editions",
  };
  for (const [got, meant] of Object.entries(misspelt)) {
    const definition = { ...who, ...(meant === "prompt" ? {} : { prompt }), [got]: undefined };
    assert.throws(
      () => agent(definition as never),
      wrong(new RegExp(`^agent: there is no option ${got}; did you mean ${meant}\\? the options are `)),
    );
  }
  assert.throws(
    () => client({ ...who, requestPermision: () => undefined } as never),
    wrong(/did you mean requestPermission\? the options are name, /),
  );
  const inGroups = {
    session: { storr: "store", setConfigOptions: "setConfigOption" },
    auth: { metods: "methods" },
    connection: { drainMS: "drainMs" },
  };
  for (const [group, names] of Object.entries(inGroups)) {
    for (const [got, meant] of Object.entries(names)) {
      assert.throws(
        () => agent({ ...who, prompt, [group]: { [got]: undefined } }),
        wrong(
          new RegExp(
            `^agent: ${group}: there is no option ${got}; did you mean ${meant}\\? the options are `,
          ),
        ),
      );
    }
  }
  assert.throws(
    () => agent({ ...who, prompt, budget: 5 } as never),
    wrong(/^agent: there is no option budget; the options are name, version, /),
  );
  class Counting {
    readonly name = "n";
    readonly version = "1";
    opens = 0;
    /** As a key of a plain definition, this would be misplaced. */
    readonly store = new Map();
    prompt(): undefined {
      this.opens++;
    }
  }
  agent(new Counting());
});

test("a name of the SDK or of an older version is refused with what to write instead", () => {
  const ofAgents = {
    versions: "is called editions",
    steering: 'is called concurrentPrompts: "inbox"',
    cancelTool: "is not needed: make the call with cancellable: true, and its signal aborts",
    authMethods: "is called auth: { methods }",
    newSession: "is called session: { open }",
  };
  for (const [name, instead] of Object.entries(ofAgents)) {
    const message = `agent: ${name} ${instead}`;
    assert.throws(() => agent({ ...who, prompt, [name]: undefined }), { name: "TypeError", message });
  }
  const ofClients = {
    versions: "is called editions",
    permission: "is called requestPermission",
    onUpdate: "belongs to a session: newSession({ cwd, onUpdate })",
    sessionUpdate: "is called onUpdate and belongs to a session: newSession({ cwd, onUpdate })",
  };
  for (const [name, instead] of Object.entries(ofClients)) {
    const message = `client: ${name} ${instead}`;
    assert.throws(() => client({ ...who, [name]: undefined }), { name: "TypeError", message });
  }
  // a class may have fields of its own, by any name
  class Editor {
    readonly name = "n";
    readonly version = "1";
    readonly onUpdate = () => undefined;
  }
  client(new Editor());
});

test("a key outside its group is refused with its place, and so is a group that is no object", () => {
  const misplaced = {
    store: "session",
    setConfigOption: "session",
    isLoggedIn: "auth",
    image: "promptCapabilities",
    requests: "extensions",
    clientTimeoutMs: "connection",
  };
  for (const [key, group] of Object.entries(misplaced)) {
    assert.throws(
      () => agent({ ...who, prompt, [key]: undefined }),
      wrong(new RegExp(`^agent: ${key} belongs in ${group}: \\{ ${key} \\}$`)),
    );
  }
  assert.throws(
    () => client({ ...who, handshakeTimeoutMs: 5 } as never),
    wrong(/^client: handshakeTimeoutMs belongs in connection: \{ handshakeTimeoutMs \}$/),
  );
  assert.throws(
    () => agent({ ...who, prompt, session: 5 } as never),
    wrong(/^agent: session must be an object, got 5$/),
  );
});

test("editions that are no list, an empty one, or have an unknown name are refused", () => {
  const wrongs: readonly (readonly [unknown, string])[] = [
    [[], 'editions must be a list of "v2", "v1" and dialects, or left out; got an empty list'],
    ["v1", 'editions must be a list of "v2", "v1" and dialects, or left out; got "v1"'],
    [["v3"], 'there is no edition "v3"; the editions are "v2", "v1" and dialects'],
    [
      ["scoped"],
      'there is no edition "scoped"; the editions are "v2", "v1" and dialects; write scoped(), which is in @parley/dialects',
    ],
    [["v2", 1], 'there is no edition 1; the editions are "v2", "v1" and dialects'],
  ];
  for (const [editions, message] of wrongs) {
    assert.throws(() => agent({ ...who, prompt, editions } as never), {
      name: "TypeError",
      message: `agent: ${message}`,
    });
    assert.throws(() => client({ ...who, editions } as never), {
      name: "TypeError",
      message: `client: ${message}`,
    });
  }
});

test("X3 handlers whose names do not begin with an underscore, or that are no functions, are refused", () => {
  const handler = () => undefined;
  for (const field of ["requests", "notifications"]) {
    assert.throws(
      () => agent({ ...who, prompt, extensions: { [field]: { "acme/x": handler } } }),
      wrong(
        new RegExp(`^agent: extensions.${field} has "acme/x"; such a name begins with "_", as "_acme/x"$`),
      ),
    );
    assert.throws(
      () => client({ ...who, extensions: { [field]: { "_acme/x": "y" } } } as never),
      wrong(new RegExp(`^client: extensions.${field}: "_acme/x" must be a function, got "y"$`)),
    );
  }
});

test("connect() says what a transport is, and where one is hidden", async () => {
  const [transport] = memoryPair();
  const app = client(who);
  const needs = /^connect: expected a transport \(start, send, close\), got /;
  for (const given of [undefined, null, "ls", 5, {}])
    await assert.rejects(app.connect(given as never), wrong(needs));
  await assert.rejects(
    app.connect({ transport } as never),
    wrong(/got an object; create one, for example with spawnTransport\("my-agent"\)$/),
  );
  await assert.rejects(
    app.connect({ ...who, prompt } as never),
    wrong(
      /^connect: expected a transport or an agent, got the definition of an agent; call agent\(.*\) first$/,
    ),
  );
  assert.throws(() => agent({ ...who, prompt }).connect(undefined as never), wrong(needs));
});

inEveryVersion("open() and prompt() say what they need, and nothing is sent", async (pair) => {
  const { agent: connected, session, wire } = await openSession(pair, { prompt });
  const before = wire.length;
  const needsPlace = wrong(
    /^(?:new|load)Session: expected an object with `cwd` .*\{ cwd: "\/absolute\/path" \}, got nothing$/,
  );
  await assert.rejects(connected.newSession(undefined as never), needsPlace);
  await assert.rejects(connected.loadSession("s", undefined as never), needsPlace);
  for (const [given, got] of [
    [undefined, "nothing"],
    [42, "42"],
    [{ type: "text", text: "x" }, "an object"],
    [[null], "null"],
    [["x"], '"x"'],
  ]) {
    const message = `prompt: expected text or a list of content blocks, got ${got}`;
    assert.throws(() => session.prompt(given as never), { name: "TypeError", message });
  }
  assert.equal(wire.length, before);
  await connected.close();
});

inEveryVersion("a turn says what it wants, and shows nothing of what is wrong", async (pair) => {
  const {
    agent: connected,
    session,
    updates,
  } = await openSession(pair, {
    async prompt(turn) {
      const said = { say: 42, think: null } as never as Record<"say" | "think", string>;
      const ask = (turn.requestPermission as (given?: unknown) => Promise<unknown>).bind(turn);
      const elicit = (turn.elicit as (given?: unknown) => Promise<unknown>).bind(turn);
      await assert.rejects(
        ask(),
        wrong(/^requestPermission: expected a title, or an object .*, got nothing$/),
      );
      await assert.rejects(elicit(), wrong(/^elicit: expected an object whose mode is .*, got nothing$/));
      await assert.rejects(elicit({}), wrong(/^elicit: expected .*, got mode: nothing$/));
      assert.throws(() => turn.say(said.say), wrong(/^turn\.say: expected text or a content block, got 42$/));
      assert.throws(() => turn.think(said.think), wrong(/^turn\.think: .*, got null$/));
      assert.throws(
        () => turn.plan(undefined as never),
        wrong(/^turn\.plan: expected a list .*, got nothing$/),
      );
      const noFunction = wrong(/^turn\.tool: expected a function that does the work, got nothing$/);
      assert.throws(() => turn.tool({ title: "T" }, undefined as never), noFunction);
      assert.throws(
        () => turn.tool(undefined as never, () => undefined),
        wrong(/^turn\.tool: .*\{ title: "Read it" \}/),
      );
      assert.throws(
        () => turn.session.runInBackground({ title: "T" }, undefined as never),
        wrong(/^session\.runInBackground: expected a function that does the work, got nothing$/),
      );
      await turn.tool({ title: "T" }, (tool) => {
        assert.throws(() => tool.add(42 as never), wrong(/^tool\.add: expected text or content .*, got 42$/));
        const diff = (...given: unknown[]) =>
          (tool.diff as (...all: unknown[]) => unknown).apply(tool, given);
        const needsChange = /^tool\.diff: expected \{ path, oldText, newText \}, got /;
        for (const given of [["/a", "new", "old"], [], [null], [{ path: "/a" }], [{ newText: "x" }]])
          assert.throws(() => diff(...given), wrong(needsChange));
        assert.throws(() => diff({ path: "/a", newText: "x", oldText: 7 }), wrong(needsChange));
        const makes = wrong(
          /^tool\.terminal: this creates a new terminal; to show an existing one, use tool\.add\(/,
        );
        assert.throws(() => tool.terminal(turn.terminal() as never), makes);
      });
    },
  });
  assert.equal((await session.prompt("go").result).stopReason, "end_turn");
  const titles = updates.flatMap((update) =>
    update.sessionUpdate === "tool_call_update" ? [update.title] : [],
  );
  assert.deepEqual(titles.filter(Boolean), ["T"]);
  await connected.close();
});

inEveryVersion("an error that is an answer names the method, here and never on the wire", async (pair) => {
  const { agent: connected, wire } = await conversation(
    pair,
    {
      prompt,
      session: {
        open() {
          throw new Error("broken");
        },
      },
      extensions: { requests: { "_acme/back": (_params, context) => context.request("_acme/refused") } },
    },
    {
      extensions: {
        requests: {
          "_acme/refused": () => {
            throw new RequestError("other", "no", { code: -32_001, data: { why: "so" } });
          },
        },
      },
    },
  );
  await assert.rejects(connected.newSession(place), {
    name: "RequestError",
    message: "broken",
    method: "session/new",
  });
  // what the client refused was an answer to the agent, which answers with the same error
  await assert.rejects(connected.request("_acme/back"), { code: -32_001, method: "_acme/back" });
  const errors = wire.flatMap(({ message }) => (message["error"] === undefined ? [] : [message["error"]]));
  assert.deepEqual(errors.slice(1), Array(2).fill({ code: -32_001, message: "no", data: { why: "so" } }));
  assert.equal("method" in new RequestError("other", "no", { code: -32_001 }), false);
  await connected.close();
});
