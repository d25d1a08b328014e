// The proxy `tools`: gives any agent the tools of a local file.

import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { McpServer } from "@parley/acp/model";
import { type ProxiedSetup, proxy, type ResultHook, refuse } from "@parley/acp/proxy";
import { mcpKit, type Tool, type ToolDefinition, tool } from "@parley/mcp";
import { option } from "../command/command.ts";
import type { ShippedProxy } from "./shipped-proxy.ts";

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

    interface Declared {
      readonly place: { id: string | undefined };
      close(): Promise<void>;
    }
    /** Until the agent has answered. */
    const opening = new Map<ProxiedSetup, Declared>();
    const open = new Map<string, Declared>();
    const forget = (sessionId: string | undefined): void => {
      if (sessionId === undefined) return;
      void open.get(sessionId)?.close();
      open.delete(sessionId);
    };
    const closed: ResultHook<undefined> = (_, session) => forget(session?.sessionId);

    return proxy({
      name: "tools",
      version: "1.0.0",
      errors: "closed",
      async open(setup) {
        const [provider] = mcpKit().providers(await toolsOf(file), basename(file).replace(/\.\w+$/, ""));
        if (provider === undefined) return undefined;
        const place = { id: setup.kind === "fork" ? undefined : setup.sessionId };
        const declared = await bridge.declare(provider, { cwd: setup.cwd, sessionId: () => place.id });
        if (declared === undefined) return refuse("the tools cannot be offered: no server could be started");
        const server = declared.server as McpServer; // as: a command, which looks the same in both directions
        const changed = { ...setup, mcpServers: [...setup.mcpServers, server] };
        opening.set(changed, { place, close: () => declared.close() });
        return changed;
      },
      opened(setup, session) {
        const declared = opening.get(setup);
        opening.delete(setup);
        if (declared === undefined) return;
        if (session === undefined) return void declared.close();
        forget(session.sessionId);
        declared.place.id = session.sessionId;
        open.set(session.sessionId, declared);
      },
      results: {
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
