// Starts a server outside a session, to see its tools or to log in to it.

import type { McpServer } from "@parley/acp/model";
import type { BrowserLogin } from "../oauth/browser-login.ts";
import { loginFiles } from "../oauth/login-files.ts";
import { Server } from "./server.ts";
import { readEntry } from "./server-entry.ts";

export interface LookOptions {
  readonly version: string;
  /** The working directory of the server, unless it has its own. */
  readonly cwd: string;
  readonly privateHosts: readonly string[];
  readonly loginFolder: string;
  /** Called when it takes logins, also to replace one. Resolves when that has ended. */
  logIn?(login: BrowserLogin): Promise<void>;
}

export interface ServerLook {
  readonly state: "ready" | "needs_login" | "failed";
  /** Whether a login is stored for it. */
  readonly isLoggedIn: boolean;
  /** Their names, as the server has them. */
  readonly tools: readonly string[];
  /** Why it cannot be used. */
  readonly problem?: string;
}

/** Rejects when the login fails. The server has ended then. */
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

/** Deletes the login to a server. False when there was none. */
export function removeLogin(loginFolder: string, url: string): boolean {
  return loginFiles(loginFolder).remove(url);
}
