// A socket for one server, and the command that connects an agent to it: it copies its input and output.

import { randomBytes, timingSafeEqual } from "node:crypto";
import { chmod, lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isObject } from "@parley/acp/jsonrpc";
import type { McpBridgedServer } from "@parley/acp/model";
import { watchedBy } from "./changes.ts";
import type { FrontServers } from "./front-server.ts";

/** An agent needs one; restarts may overlap. */
const maxConnections = 16;
/** The longest line, as in a request over HTTP. */
const lineLimit = 16 * 1024 * 1024;
/** For the token. */
const greetingMs = 10_000;
const folderPrefix = "parley-bridge-";
const socketName = "mcp.sock";

/**
 * The program that agents start. It is passed to `node -e`, so that it needs no file that an agent in a sandbox might not
 * see. The first line is the token.
 */
const shim = `
const { PARLEY_BRIDGE_SOCKET: path, PARLEY_BRIDGE_TOKEN: token } = process.env;
const fail = (why) => { process.stderr.write("parley: cannot reach the client's tools: " + why + "\\n"); process.exit(1); };
const socket = require("node:net").connect(path);
let isConnected = false;
socket.on("error", (error) => { if (!isConnected) fail(error.code + " at " + path); });
socket.once("connect", () => { isConnected = true; socket.write(token + "\\n"); process.stdin.pipe(socket); socket.pipe(process.stdout); });
socket.once("close", () => process.exit(0));
process.stdout.on("error", () => process.exit(0));
`;

/** Serves what `servers` makes. `folder` holds the socket; the agent must see it. */
export async function offerBySocket(
  name: string,
  servers: FrontServers,
  folder: string = tmpdir(),
): Promise<McpBridgedServer> {
  const token = randomBytes(32).toString("hex");
  const isWindows = process.platform === "win32";
  // not awaited: it concerns other processes
  if (!isWindows) void removeStaleFolders(folder);
  // mkdtemp creates a folder for its owner only
  const own = isWindows ? undefined : await mkdtemp(join(folder, folderPrefix));
  const path =
    own === undefined
      ? `\\\\.\\pipe\\${folderPrefix}${randomBytes(16).toString("hex")}`
      : join(own, socketName);
  const open = new Set<Socket>();
  const listener = createServer((socket) => {
    if (open.size >= maxConnections) return void socket.destroy();
    open.add(socket);
    socket.once("close", () => open.delete(socket)).on("error", () => socket.destroy());
    serveAfterToken(socket, token, servers);
  });
  const close = async () => {
    listener.close();
    servers.changes.close();
    for (const socket of open) socket.destroy();
    if (own !== undefined) await rm(own, { recursive: true, force: true });
  };
  try {
    const listening = Promise.withResolvers<void>();
    listener.once("error", listening.reject);
    listener.listen(path, () => listening.resolve());
    await listening.promise;
    if (!isWindows) await chmod(path, 0o600);
  } catch (error) {
    await close();
    throw error;
  }
  listener.unref();
  return { server: declaration(name, path, token), close };
}

function declaration(name: string, path: string, token: string): McpBridgedServer["server"] {
  const env = [
    { name: "PARLEY_BRIDGE_SOCKET", value: path },
    { name: "PARLEY_BRIDGE_TOKEN", value: token },
    // in an editor made with Electron, the program of this process is not Node otherwise
    ...("electron" in process.versions ? [{ name: "ELECTRON_RUN_AS_NODE", value: "1" }] : []),
  ];
  return { type: "stdio", name, command: process.execPath, args: ["-e", shim], env };
}

/** The rest of the connection is MCP, as on stdin and stdout. */
function serveAfterToken(socket: Socket, token: string, servers: FrontServers): void {
  const wanted = Buffer.from(`${token}\n`);
  let given = Buffer.alloc(0);
  socket.setTimeout(greetingMs, () => socket.destroy());
  const read = (chunk: Buffer) => {
    given = Buffer.concat([given, chunk]);
    if (given.length < wanted.length) return;
    socket.off("data", read).pause().setTimeout(0);
    if (!timingSafeEqual(given.subarray(0, wanted.length), wanted)) {
      return void socket.end(`${JSON.stringify(refused)}\n`);
    }
    if (given.length > wanted.length) socket.unshift(given.subarray(wanted.length));
    serve(socket, servers).catch(() => socket.destroy());
  };
  socket.on("data", read);
}

const refused = {
  jsonrpc: "2.0",
  id: null,
  error: { code: -32_000, message: "not authenticated: the first line must be the token of this server" },
};

async function serve(socket: Socket, servers: FrontServers): Promise<void> {
  const { serveStdio, StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
  const transport = new StdioServerTransport(socket, socket, { maxBufferSize: lineLimit });
  const serving = serveStdio(servers.connected, { transport });
  const { onclose, onmessage } = transport;
  const watches = new Watches(servers);
  transport.onmessage = (message) => {
    watches.note(message);
    onmessage?.(message);
  };
  // it closes when a line is too long, and leaves the socket open
  transport.onclose = () => {
    onclose?.();
    watches.close();
    // after the end of its input it still gets what was written
    if (!socket.readableEnded) socket.destroy();
  };
  socket.once("close", () => void serving.close());
  socket.once("end", () => socket.end());
  // the token was read from it, and then it was paused
  socket.resume();
}

/** The resources that a client of 2026-07-28 watches: the server package keeps its subscriptions to itself. */
class Watches {
  readonly #servers: FrontServers;
  readonly #open = new Map<unknown, Promise<() => void>>();

  constructor(servers: FrontServers) {
    this.#servers = servers;
  }

  note(message: unknown): void {
    const { id, method, params } = (isObject(message) ? message : {}) as {
      readonly id?: unknown;
      readonly method?: unknown;
      readonly params?: unknown;
    };
    if (method === "subscriptions/listen" && !this.#open.has(id))
      this.#open.set(id, this.#servers.changes.watch(watchedBy(params)));
    if (method === "notifications/cancelled" && isObject(params)) this.#end(params["requestId"]);
  }

  close(): void {
    for (const id of [...this.#open.keys()]) this.#end(id);
  }

  #end(id: unknown): void {
    void this.#open.get(id)?.then((end) => end());
    this.#open.delete(id);
  }
}

/** Removes what killed processes have left behind. Never rejects. */
async function removeStaleFolders(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const ours = names.filter((name) => name.startsWith(folderPrefix)).map((name) => join(folder, name));
  await Promise.allSettled(ours.map(removeIfDead));
}

async function removeIfDead(path: string): Promise<void> {
  const stat = await lstat(path);
  // folders of other users and links are left alone
  if (stat.uid !== process.getuid?.() || !stat.isDirectory()) return;
  if (await isDead(join(path, socketName))) await rm(path, { recursive: true, force: true });
}

/** A folder without a socket may belong to a process that is starting. */
function isDead(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "ECONNREFUSED"));
  });
}
