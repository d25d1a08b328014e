// Mistakes of people who use the kit: none of them compiles (see README.md).

import { connectAgent, type ManagedAgent } from "@parley/client";
import { openHistory } from "@parley/client/history";
import { permissionPolicy } from "@parley/client/policy";

declare const agent: ManagedAgent;
const me = { name: "me", version: "1" };

connectAgent("claude", me).catch(console.error);

// @ts-expect-error the client has no name
connectAgent("claude", { version: "1" }).catch(console.error);

// @ts-expect-error a spec has a command or an address
connectAgent({ name: "mine" }, me).catch(console.error);

// @ts-expect-error arguments are a list, not a text
connectAgent({ command: "node", args: "agent.js" }, me).catch(console.error);

// @ts-expect-error the variables are called env
connectAgent("claude", { ...me, environment: {} }).catch(console.error);

// @ts-expect-error a policy decides
connectAgent("claude", { ...me, policy: {} }).catch(console.error);

// @ts-expect-error rules are text
permissionPolicy({ rules: [{ effect: "allow" }] });

// @ts-expect-error the folder is called stateFolder
permissionPolicy({ folder: "/state" });

// @ts-expect-error a question is answered with the id of a choice
permissionPolicy({ ask: () => true });

// @ts-expect-error a history has a path
openHistory({});

// @ts-expect-error a session needs a directory
agent.newSession({}).catch(console.error);

// @ts-expect-error the managed agent is the connection itself
agent.connected;

const session = await agent.newSession({ cwd: "/" });

// @ts-expect-error what waits is known to the command only
session.waiting;
