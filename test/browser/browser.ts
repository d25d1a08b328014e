// A real browser, and the web site that it visits.

import { once } from "node:events";
import { accessSync, constants, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, extname, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const names = ["chromium", "chromium-browser", "google-chrome"];

/** The program of a browser that is installed here. */
export function installedBrowser(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Its profile is temporary. `close` ends it and everything that it started. */
export function startBrowser(program: string): Promise<Browser> {
  const quiet = ["background-networking", "component-update", "sync", "quic", "gpu"];
  return chromium.launch({
    executablePath: program,
    args: ["--no-first-run", ...quiet.map((name) => `--disable-${name}`)],
  });
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
};

export interface Site extends AsyncDisposable {
  /** As the browser calls it. */
  readonly origin: string;
}

/** Serves one page, and the files of a project beside it. */
export async function serveSite(page: string, project: string): Promise<Site> {
  const server: Server = createServer(({ url = "/" }, response) => {
    const { pathname } = new URL(url, "http://localhost");
    const file = pathname === "/" ? page : join(project, pathname);
    try {
      const content = readFileSync(file);
      response.writeHead(200, { "Content-Type": types[extname(file)] ?? "text/plain" }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    // as: it listens on a port
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
