// Tests misbehaving MCP servers: the conversation continues, the user is informed, and no process is left.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { SessionUpdate } from "@parley/acp";
import type { McpServer } from "@parley/acp/model";
import {
  calls,
  said,
  says,
  scriptedModel,
  temporaryFolder,
  thought,
  toolStories,
} from "../../test/support/agent-probe.ts";
import {
  outcomesOf,
  realServer,
  remoteServer,
  scriptServer,
  servedEverything,
  stdioServer,
  talkUntilEnd,
  toolServer,
} from "../../test/support/mcp-probe.ts";
import { fileAppears, isGone } from "../../test/support/polling.ts";

const patient = { timeout: 60_000 };

function notices(updates: readonly SessionUpdate[]): string[] {
  return updates.flatMap((update) =>
    update.sessionUpdate === "notice" ? [`${update.title} ${update.description ?? ""}`.trim()] : [],
  );
}

/** A conversation about these servers. The model does the steps, and whatever it calls is allowed. */
async function conversation(
  context: TestContext,
  cwd: string,
  steps: Parameters<typeof scriptedModel>[0],
  ...mcpServers: readonly McpServer[]
) {
  const model = scriptedModel(steps);
  const answers = Array.from({ length: 10 }, () => "allow_once");
  const link = await talkUntilEnd(context, { version: 2, cwd, models: [model], answers, mcpServers });
  return { ...link, model };
}

test("A21 a missing server is reported by name, and the others work", patient, async (context) => {
  const cwd = temporaryFolder(context, {});
  const { session, updates, model } = await conversation(
    context,
    cwd,
    [calls(["memory/read_graph", {}]), says("done")],
    { type: "stdio", name: "nowhere", command: join(cwd, "no-such-program"), args: [], env: [] },
    realServer("memory", { env: { MEMORY_FILE_PATH: join(cwd, "memory.json") } }),
  );
  assert.equal((await session.prompt("go").result).stopReason, "end_turn");
  assert.match(
    notices(updates).join("\n"),
    /^The MCP server nowhere is not running: could not start ".*no-such-program"/,
  );
  assert.equal(notices(updates).length, 1);
  assert.match(outcomesOf(model).join("\n"), /entities/);
});

test("the stderr of a server that exits is shown", patient, async (context) => {
  const cwd = temporaryFolder(context, {});
  const server = scriptServer(cwd, "broken", 'console.error("no config"); process.exit(3);');
  const models = [scriptedModel([says("done")])];
  const link = await talkUntilEnd(context, { version: 1, cwd, models, mcpServers: [server] });
  await link.session.prompt("go").result;
  assert.match(
    notices(link.updates).join("\n"),
    /^The MCP server broken is not running: .* exited with code 3\.\s+It wrote:\s+no config$/,
  );
  assert.equal(said(link.updates), "done");
});

test("F9 a server that never answers initialize costs its timeout and no more", patient, async (context) => {
  const cwd = temporaryFolder(context, {});
  const server = scriptServer(
    cwd,
    "silent",
    'writeFileSync("pid", String(process.pid)); const answer = () => undefined;',
    { more: { _meta: { timeout: 1_500 } } },
  );
  const opened = performance.now();
  const link = await talkUntilEnd(context, {
    version: 2,
    cwd,
    models: [scriptedModel([says("done")])],
    mcpServers: [server],
  });
  assert.ok(performance.now() - opened < 1_400, "the session is there before its servers are");
  await link.session.prompt("go").result;
  assert.deepEqual(notices(link.updates), ["The MCP server silent did not answer in time (2 s)."]);
  assert.match(thought(link.updates), /Waiting for MCP servers to start: silent/);
  assert.ok(await isGone(Number(readFileSync(join(cwd, "pid"), "utf8"))));
});

test("an answer that is no valid error fails its call at once", patient, async (context) => {
  const cwd = temporaryFolder(context, {});
  const server = toolServer(cwd, "odd", {
    bad: 'write({ id, error: { code: "E_BAD", message: { why: "odd" } } });',
    none: "write({ id });",
  });
  const steps = [calls(["odd/bad", {}], ["odd/none", {}]), says("done")];
  const { session, model } = await conversation(context, cwd, steps, server);
  assert.equal((await session.prompt("go").result).stopReason, "end_turn");
  const outcomes = outcomesOf(model).join("\n");
  assert.match(outcomes, /odd answered with an error: .*no valid error: .*"E_BAD".*"odd"/);
  assert.match(outcomes, /no valid result/);
});

test("a turn that waits for a server can be cancelled, and the session closed", patient, async (context) => {
  const cwd = temporaryFolder(context, {});
  const server = scriptServer(cwd, "silent", "const answer = () => undefined;");
  const link = await talkUntilEnd(context, {
    version: 1,
    cwd,
    models: [scriptedModel([])],
    mcpServers: [server],
  });
  const prompt = link.session.prompt("go");
  prompt.cancel();
  assert.equal((await prompt.result).stopReason, "cancelled");
  await link.session.close();
});

test(
  "F9 a server that dies in the middle of a call fails the call, and is started again with the next turn",
  patient,
  async (context) => {
    const cwd = temporaryFolder(context, {});
    const server = toolServer(cwd, "fragile", {
      die: 'console.error("out of memory"); process.exit(9);',
      live: 'return said("alive");',
    });
    const steps = [
      calls(["fragile/die", {}], ["fragile/live", {}]),
      says("it died"),
      calls(["fragile/live", {}]),
      says("done"),
    ];
    const { session, model } = await conversation(context, cwd, steps, server);
    await session.prompt("go").result;
    const [died = "", gone = ""] = outcomesOf(model);
    assert.match(
      died,
      /The MCP server fragile is not running: .* exited with code 9\.\s+It wrote:\s+out of memory/,
    );
    assert.match(gone, /The MCP server fragile is not running/);
    await session.prompt("again").result;
    assert.equal(outcomesOf(model).at(-1), "alive");
  },
);

test("a server that floods stderr and writes garbage to stdout still works", patient, async (context) => {
  const cwd = temporaryFolder(context, {});
  const server = scriptServer(
    cwd,
    "noisy",
    `const flood = "x".repeat(1000) + "\\n";
    for (let n = 0; n < 20_000; n++) process.stderr.write(flood);
    process.stdout.write("starting up...\\n");
    const answer = (method) => {
      if (method === "initialize") return hello({ tools: {} });
      if (method === "tools/list") return { tools: [tool("work")] };
      process.stdout.write("not JSON\\n");
      return said("worked");
    };`,
  );
  const steps = [calls(["noisy/work", {}]), says("done")];
  const { session, model } = await conversation(context, cwd, steps, server);
  await session.prompt("go").result;
  assert.deepEqual(outcomesOf(model), ["worked"]);
});

test(
  "F9 TH13 a call that takes longer than the timeout of its server fails, one that reports progress does not",
  patient,
  async (context) => {
    const cwd = temporaryFolder(context, {});
    const server = toolServer(
      cwd,
      "slow",
      {
        silent: "",
        busy: `const { progressToken } = params._meta;
        return new Promise((resolve) => {
          let progress = 0;
          const step = setInterval(() => {
            notify("notifications/progress", { progressToken, progress: ++progress, total: 6, message: "step" });
            if (progress === 6) { clearInterval(step); resolve(said("finished")); }
          }, 400);
        });`,
      },
      { more: { _meta: { timeout: 1_500 } } },
    );
    const steps = [calls(["slow/silent", {}], ["slow/busy", {}]), says("done")];
    const { session, updates, model } = await conversation(context, cwd, steps, server);
    await session.prompt("go").result;
    const [silent = "", busy = ""] = outcomesOf(model);
    assert.match(silent, /The MCP server slow did not answer in time/);
    assert.equal(busy, "finished");
    assert.match(JSON.stringify(updates), /50 % step/);
  },
);

test("cancelling the turn cancels the call at the server", patient, async (context) => {
  const cwd = temporaryFolder(context, {});
  const server = toolServer(
    cwd,
    "patient",
    { wait: 'notify("notifications/progress", { progressToken: params._meta.progressToken, progress: 1 });' },
    {
      also: 'if (method === "notifications/cancelled") writeFileSync("cancelled", String(params.requestId));',
    },
  );
  const { session, updates } = await conversation(context, cwd, [calls(["patient/wait", {}])], server);
  const started = Promise.withResolvers<void>();
  const prompt = session.prompt("go");
  void (async () => {
    for await (const update of prompt) if (JSON.stringify(update).includes('"text":"1"')) started.resolve();
  })();
  await started.promise;
  prompt.cancel();
  assert.equal((await prompt.result).stopReason, "cancelled");
  assert.deepEqual(toolStories(updates), ["patient/wait: pending > in_progress > cancelled"]);
  await fileAppears(join(cwd, "cancelled"));
});

test("no process of a server outlives its session, including its own children", patient, async (context) => {
  const cwd = temporaryFolder(context, {});
  const source = `import { spawn } from "node:child_process";
    const child = spawn("sleep", ["600"], { stdio: "ignore" });
    process.on("SIGTERM", () => undefined);
    writeFileSync("pids", process.pid + " " + child.pid);
    setInterval(() => undefined, 1000);
    const answer = (method) => method === "initialize" ? hello({ tools: {} }) : method === "tools/list" ? { tools: [] } : undefined;`;
  // it neither leaves at the end of its input nor at SIGTERM
  const server = scriptServer(cwd, "stubborn", source.replace("process.exit", "void"), {});
  const link = await talkUntilEnd(context, {
    version: 2,
    cwd,
    models: [scriptedModel([says("done")])],
    mcpServers: [server],
  });
  await link.session.prompt("go").result;
  const pids = readFileSync(join(cwd, "pids"), "utf8").split(" ").map(Number);
  await link.session.close();
  for (const pid of pids) assert.ok(await isGone(pid), `${pid} still runs`);
});

test(
  "credentials are in no output: not in results, not in errors, not in what the server wrote (Q9)",
  patient,
  async (context) => {
    const cwd = temporaryFolder(context, {});
    const secret = "hunter2-topsecret";
    const leaky = scriptServer(
      cwd,
      "leaky",
      'console.error("login with " + process.env.API_TOKEN + " failed"); process.exit(1);',
      { env: { API_TOKEN: secret } },
    );
    const asking: string[] = [];
    const refusing = createServer((request, response) => {
      asking.push(String(request.headers.authorization));
      response
        .writeHead(401, { "content-type": "text/plain" })
        .end(`bad key ${request.headers.authorization}`);
    });
    await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
    context.after(() => refusing.close());
    const url = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/mcp?api_key=${secret}`;
    const model = scriptedModel([calls(["everything/get-env", {}]), says("done")]);
    const link = await talkUntilEnd(context, {
      version: 2,
      cwd,
      models: [model],
      answers: ["allow_once"],
      mcpServers: [
        leaky,
        remoteServer("http", url, [{ name: "Authorization", value: `Bearer ${secret}` }]),
        realServer("everything", { env: { MY_API_KEY: secret, PLAIN: "visible" } }),
      ],
    });
    await link.session.prompt("go").result;
    assert.equal(notices(link.updates).length, 2, notices(link.updates).join("\n"));
    assert.ok(asking.includes(`Bearer ${secret}`), "the server is given its header");
    const [env = ""] = outcomesOf(model);
    assert.match(env, /"MY_API_KEY": "\*\*\*"/);
    assert.match(env, /visible/);
    const all = JSON.stringify([link.updates, link.asks, link.log, model.requests]);
    assert.equal(all.includes(secret), false);
  },
);

test("our own keys are not given to servers", patient, async (context) => {
  process.env["PARLEY_TEST_API_KEY"] = "sk-our-own-key";
  context.after(() => delete process.env["PARLEY_TEST_API_KEY"]);
  const cwd = temporaryFolder(context, {});
  const steps = [calls(["everything/get-env", {}]), says("done")];
  const { session, model } = await conversation(context, cwd, steps, realServer("everything"));
  await session.prompt("go").result;
  assert.match(outcomesOf(model)[0] ?? "", /"PATH"/);
  assert.doesNotMatch(outcomesOf(model)[0] ?? "", /PARLEY_TEST_API_KEY/);
});

test(
  "a server over HTTP that goes away in the middle of a call fails the call in words",
  patient,
  async (context) => {
    const { url, child } = await servedEverything(context, "streamableHttp");
    const cwd = temporaryFolder(context, {});
    const wait = ["remote/trigger-long-running-operation", { duration: 600, steps: 1200 }] as const;
    const model = scriptedModel([calls(wait), calls(["remote/echo", { message: "?" }]), says("done")]);
    const link = await talkUntilEnd(context, {
      version: 2,
      cwd,
      models: [model],
      answers: ["allow_once", "allow_once"],
      mcpServers: [remoteServer("http", url)],
    });
    const prompt = link.session.prompt("go");
    const running = Promise.withResolvers<void>();
    void (async () => {
      for await (const update of prompt) if (JSON.stringify(update).includes(" %")) running.resolve();
    })();
    await running.promise;
    child.kill("SIGKILL");
    assert.equal((await prompt.result).stopReason, "end_turn");
    assert.match(
      outcomesOf(model)[1] ?? "",
      /The MCP server remote cannot be reached at http:\/\/127\.0\.0\.1/,
    );
  },
);

test("a result of megabytes is cut for the model and the user, with a note", patient, async (context) => {
  const cwd = temporaryFolder(context, {});
  const server = toolServer(cwd, "long", { read: 'return said("line of text\\n".repeat(400_000));' });
  const steps = [calls(["long/read", {}]), says("done")];
  const { session, updates, model } = await conversation(context, cwd, steps, server);
  await session.prompt("go").result;
  const [told = ""] = outcomesOf(model);
  assert.ok(told.length < 60_000);
  assert.match(told, /\[lines 2001-400000 of 400000 were left out: too long\]$/);
  assert.ok(JSON.stringify(updates).length < 400_000);
});

test(
  "F9 TH13 a server whose list of tools does not end costs its timeout and no more",
  patient,
  async (context) => {
    const cwd = temporaryFolder(context, {});
    const source = `let page = 0;
    const answer = async (method) => {
      if (method === "initialize") return hello({ tools: {} });
      // slow pages: the clock of the server is what the test is about
      await new Promise((resolve) => setTimeout(resolve, 200));
      return { tools: [tool("t" + page)], nextCursor: String(page++) };
    };`;
    const server = scriptServer(cwd, "endless", source, { more: { _meta: { timeout: 2_000 } } });
    const { session, updates } = await conversation(context, cwd, [says("done")], server);
    await session.prompt("go").result;
    assert.deepEqual(notices(updates), ["The MCP server endless did not answer in time (2 s)."]);
  },
);

test("a program that is not an MCP server fails with a clear message", patient, async (context) => {
  const cwd = temporaryFolder(context, {
    "chatty.mjs": 'process.stdin.on("data", () => console.log("hello?"));',
  });
  const server = stdioServer("chatty", join(cwd, "chatty.mjs"), { more: { _meta: { timeout: 1_000 } } });
  const { session, updates } = await conversation(context, cwd, [says("done")], server);
  await session.prompt("go").result;
  assert.deepEqual(notices(updates), ["The MCP server chatty did not answer in time (1 s)."]);
});

test("F9 Q9 TH13 a server that lies fails its calls, and the turn goes on", patient, async (context) => {
  const cwd = temporaryFolder(context, {});
  const lies = {
    nonsense: 'return { content: "no list", isError: 7 };',
    wrong_id: 'write({ id: 4711, result: said("not yours") });',
    twice: 'write({ id, result: said("first") }); return said("second");',
  };
  const server = toolServer(cwd, "liar", lies, { more: { _meta: { timeout: 1_000 } } });
  const names = Object.keys(lies).map((name) => [`liar/${name}`, {}] as const);
  const { session, model } = await conversation(context, cwd, [calls(...names), says("done")], server);
  assert.equal((await session.prompt("go").result).stopReason, "end_turn");
  const [nonsense = "", wrongId = "", twice = ""] = outcomesOf(model);
  assert.match(nonsense, /The MCP server liar answered with an error/);
  assert.match(wrongId, /did not answer in time/);
  assert.equal(twice, "first");
});
