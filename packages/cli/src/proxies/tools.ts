// The proxy `tools`: gives any agent the tools of a local file.

import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { McpServer } from "@parley/acp/model";
import { proxy, type ResultHook, refuse } from "@parley/acp/proxy";
import { mcpKit, type Tool, type ToolDefinition, tool } from "@parley/mcp";
import { option } from "../command/command.ts";
import type { ShippedProxy } from "./shipped-proxy.ts";

/** A server that was declared to the agent. */
interface Declared {
  /** What only the params that declare it have. */
  readonly mark: string;
  readonly place: { id: string | undefined };
  close(): Promise<void>;
}

/** The requests that may wait for the agent at once, or were refused. */
const mostOpening = 8;

export const tools: ShippedProxy = {
  name: "tools",
  summary: "Gives any agent the tools of a JavaScript or TypeScript file",
  options: {
    file: option("FILE", "A module whose default export is a list of tools"),
  },

  create(given) {
    const file = given.text("file") ?? given.wrong("--file");
    // every agent takes servers that are commands
    const bridge = mcpKit().bridge({ http: false, stdio: true });

    /** Until the agent has answered; the oldest is the first. */
    const opening: Declared[] = [];
    const open = new Map<string, Declared>();
    const forget = (sessionId: string | undefined): void => {
      if (sessionId === undefined) return;
      void open.get(sessionId)?.close();
      open.delete(sessionId);
    };
    const opened: ResultHook<undefined> = (_, session, { params }) => {
      const text = JSON.stringify(params);
      const at = opening.findIndex(({ mark }) => text.includes(mark));
      const [declared] = at < 0 ? [] : opening.splice(at, 1);
      if (session === undefined || declared === undefined) return;
      forget(session.sessionId);
      declared.place.id = session.sessionId;
      open.set(session.sessionId, declared);
    };
    const closed: ResultHook<undefined> = (_, session) => forget(session?.sessionId);

    return proxy({
      name: "tools",
      version: "1.0.0",
      errors: "closed",
      async open(setup, { signal }) {
        const [provider] = mcpKit().providers(await toolsOf(file), basename(file).replace(/\.\w+$/, ""));
        if (provider === undefined) return undefined;
        const place = { id: setup.kind === "fork" ? undefined : setup.sessionId };
        const declared = await bridge.declare(provider, { cwd: setup.cwd, sessionId: () => place.id });
        if (declared === undefined) return refuse("the tools cannot be offered: no server could be started");
        const server = declared.server as McpServer; // as: a command, which looks the same in both directions
        const [first] = server.type === "stdio" ? Object.values(server.env ?? {}) : [];
        const mark = JSON.stringify(typeof first === "string" ? first : first?.value);
        const drop = (each: Declared | undefined): void => {
          const at = each === undefined ? -1 : opening.indexOf(each);
          if (at >= 0) void opening.splice(at, 1)[0]?.close();
        };
        const mine: Declared = { mark, place, close: () => declared.close() };
        // no hook is told that the agent has refused
        drop(opening.find(({ place: { id } }) => id !== undefined && id === place.id));
        if (opening.length >= mostOpening) drop(opening[0]);
        opening.push(mine);
        signal.addEventListener("abort", () => drop(mine), { once: true });
        return { ...setup, mcpServers: [...setup.mcpServers, server] };
      },
      results: {
        "session/new": opened,
        "session/load": opened,
        "session/resume": opened,
        "session/fork": opened,
        "session/close": closed,
        "session/delete": closed,
      },
      closed: () => void bridge.close(),
    });
  },
};

/** Plain objects are tools too, so that a file needs no package. */
async function toolsOf(file: string): Promise<Tool[]> {
  const { default: listed } = (await import(pathToFileURL(resolve(file)).href)) as { default?: unknown };
  if (!Array.isArray(listed) || listed.length === 0)
    throw new TypeError(`${file}: expected a list of tools as its default export`);
  return listed.map((each: Tool | ToolDefinition<never>) => ("kind" in each ? each : tool(each)));
}
