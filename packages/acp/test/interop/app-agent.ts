// A program: an agent written with agent() and served on stdio or, with the argument "remote", over HTTP and WebSocket: it then
// prints its address and ends with its input. The text of a prompt names what it does, and its last message says what it
// learnt.

import { agent, RequestError } from "@parley/acp";
import { serveStdio } from "@parley/acp/node";
import { remoteServer } from "@parley/acp/server";
import { hostRemote } from "../support/remote-host.ts";
import { appCommands, appOptions } from "./app-samples.ts";
import { appTurns } from "./app-turns.ts";
import { meta } from "./v1-samples.ts";
import { untilCancelled } from "./wire-script.ts";

let isLoggedIn = process.argv.includes("logged-in");
const only = (["v1", "v2"] as const).find((edition) => process.argv.includes(`${edition}-only`));

const app = agent({
  name: "app-agent",
  version: "1.0.0",
  title: "Written once",
  ...(only === undefined ? {} : { editions: [only] }),
  promptCapabilities: { image: true, audio: true, embeddedContext: true },
  mcpCapabilities: { http: true, sse: true },
  auth: {
    methods: [
      { type: "agent", methodId: "key", name: "API key" },
      { type: "terminal", methodId: "tui", name: "Terminal", args: ["login"] },
    ],
    login() {
      isLoggedIn = true;
    },
    logout() {
      isLoggedIn = false;
    },
  },
  unstable: ["fork"],
  _meta: meta,
  session: {
    open(session) {
      if (!isLoggedIn) throw RequestError.authRequired();
      session.setConfigOptions(appOptions);
      session.setAvailableCommands(appCommands);
    },
  },
  async prompt(turn) {
    const work = Object.hasOwn(appTurns, turn.text) ? appTurns[turn.text] : undefined;
    if (work === undefined) {
      for (const block of turn.prompt) await turn.say(block);
      return "max_tokens";
    }
    const learnt = await work(turn);
    await turn.say(`learnt: ${JSON.stringify(learnt ?? null)}`);
    return undefined;
  },
  extensions: {
    requests: {
      "_parley.test/echo": (params) => params,
      "_parley.test/fail": () => {
        throw new RequestError("other", "this always fails", {
          code: 4242,
          data: { why: ["it", { must: true }] },
        });
      },
      "_parley.test/wait": async (_, call) => {
        await call.notify("_parley.test/note", { waiting: "$/cancel_request" });
        return untilCancelled(call);
      },
      "_parley.test/crash": () => {
        process.stderr.write("the agent is out of luck\n");
        process.exit(3);
      },
    },
    notifications: {
      "_parley.test/note": (params, call) => {
        // nothing of the client's depends on when it arrives
        void call.notify("_parley.test/note", { back: params });
      },
    },
  },
  log: (level, message, details) => {
    if (level === "warn" || level === "error")
      process.stderr.write(`${message} ${JSON.stringify(details)}\n`);
  },
});

if (process.argv.includes("remote")) {
  // a client of an agent that has crashed tries to reach it for so long
  const graceMs = 1_000;
  const host = await hostRemote(remoteServer({ connect: (transport) => app.connect(transport), graceMs }));
  process.stdout.write(`${host.url}\n`);
  process.stdin.resume().on("end", () => void host.stop());
} else await serveStdio(app);
