// Starts a server outside a session, to see its tools or to log in to it.

import type { McpServer } from "@parley/acp/model";
import type { BrowserLogin } from "../oauth/browser-login.ts";
import { loginFiles } from "../oauth/login-files.ts";
import { Server } from "./server.ts";
import { readEntry } from "./server-entry.ts";

/** How a server is started and reached. */
export interface LookOptions {
  /** The version that the client names. */
  readonly version: string;
  /** The working directory of the server, unless it has its own. */
  readonly cwd: string;
  /** Hosts on this machine or a private network that a login may use. */
  readonly privateHosts: readonly string[];
  /** The folder where logins are stored. */
  readonly loginFolder: string;
  /** Called when it takes logins, also to replace one. Resolves when that has ended. */
  logIn?(login: BrowserLogin): Promise<void>;
}

/** The state of a server, and its tools. */
export interface ServerLook {
  /** Whether it can be used. */
  readonly state: "ready" | "needs_login" | "failed";
  /** Whether a login is stored for it. */
  readonly isLoggedIn: boolean;
  /** The names of its tools, as the server has them. */
  readonly tools: readonly string[];
  /** Why it cannot be used. */
  readonly problem?: string;
}

/**
 * Starts or reaches an MCP server, lists its tools, and ends it. Rejects when a login fails.
 *
 * @example
 * import { lookAtServer } from "@parley/agent/mcp";
 *
 * const server = { type: "stdio", name: "files", command: "mcp-files", args: [], env: [] } as const;
 * const look = await lookAtServer(server, {
 *   version: "1.0.0",
 *   cwd: process.cwd(),
 *   privateHosts: [],
 *   loginFolder: "/home/me/.local/state/my-app/mcp-logins",
 * });
 * console.log(look.state, look.tools);
 */
export async function lookAtServer(server: McpServer, options: LookOptions): Promise<ServerLook> {
  const { version, cwd, privateHosts, loginFolder, logIn } = options;
  const entry = readEntry(server, cwd);
  const opened = new Server(entry.name, entry, {
    version,
    privateHosts,
    logins: loginFiles(loginFolder),
    roots: () => [cwd],
    changed: () => undefined,
    // there is no one to ask
    questions: { offered: undefined, ask: async () => ({ action: "cancel" }), done: () => undefined },
  });
  try {
    await opened.started;
    if (logIn !== undefined && (opened.needsLogin || opened.isLoggedIn)) {
      const login = await opened.beginLogin();
      try {
        await logIn(login);
      } finally {
        login.close();
      }
      await opened.started;
    }
    const problem = opened.takeFailure();
    return {
      state: opened.needsLogin ? "needs_login" : problem === undefined ? "ready" : "failed",
      isLoggedIn: opened.isLoggedIn,
      tools: opened.tools.map(({ name }) => name.slice(opened.name.length + 1)),
      ...(problem !== undefined && { problem }),
    };
  } finally {
    await opened.close();
  }
}

/**
 * Deletes the stored login to a server. Returns false when there was none.
 *
 * @example
 * import { removeLogin } from "@parley/agent/mcp";
 *
 * removeLogin("/home/me/.local/state/my-app/mcp-logins", "https://mcp.example.com/");
 */
export function removeLogin(loginFolder: string, url: string): boolean {
  return loginFiles(loginFolder).remove(url);
}
