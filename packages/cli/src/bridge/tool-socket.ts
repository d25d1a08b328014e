// A socket per session that serves the editor's tools to the agent's MCP server, protected by a secret.

import { randomBytes, timingSafeEqual } from "node:crypto";
import { chmod, lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConnectionError, type Log, RequestError } from "@parley/acp";
import { Connection } from "@parley/acp/jsonrpc";
import { streamTransport } from "@parley/acp/node";
import type { ClientToolServices, ClientTools } from "@parley/acp/relay";
import { mainArguments } from "../settings/installation.ts";
import { ClientToolCalls } from "./tool-calls.ts";
import { clientTools } from "./tool-definitions.ts";

/** An agent needs one; restarts may overlap. */
const maxConnections = 16;

/** Opens the socket and returns the MCP server for the agent. */
export async function offerClientTools(services: ClientToolServices, log: Log): Promise<ClientTools> {
  const token = randomBytes(32).toString("hex");
  // not awaited: it concerns other bridges
  if (process.platform !== "win32") void removeStaleFolders();
  // mkdtemp creates a folder for its owner only
  const folder = await mkdtemp(join(tmpdir(), folderPrefix));
  const path =
    process.platform === "win32"
      ? `\\\\.\\pipe\\parley-bridge-${randomBytes(16).toString("hex")}`
      : join(folder, socketName);
  const open = new Set<Connection>();
  const listener = createServer((socket) => {
    if (open.size >= maxConnections) return void socket.destroy();
    const connection = serve(socket, services, token, log);
    open.add(connection);
    void connection.closed.then(() => open.delete(connection));
  });
  try {
    await new Promise<void>((resolve, reject) => {
      listener.once("error", reject);
      listener.listen(path, () => resolve());
    });
    if (process.platform !== "win32") await chmod(path, 0o600);
  } catch (error) {
    listener.close();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return {
    server: {
      type: "stdio",
      name: "editor",
      command: process.execPath,
      args: [...mainArguments, "bridge-mcp"],
      env: [
        { name: "PARLEY_BRIDGE_SOCKET", value: path },
        { name: "PARLEY_BRIDGE_TOKEN", value: token },
      ],
    },
    async close() {
      listener.close();
      await Promise.all(Array.from(open, (connection) => connection.close("the session has ended")));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function serve(socket: Socket, services: ClientToolServices, token: string, log: Log): Connection {
  const work = new ClientToolCalls(services);
  const offered = clientTools.filter((tool) => tool.isOffered(services)).map(({ name }) => name);
  let isKnown = false;
  const connection: Connection = new Connection(streamTransport(socket, { framing: "ndjson" }), {
    log,
    handlers: {
      request(method, params, request) {
        if (method === "hello") {
          isKnown = isSame(token, (params as { token?: unknown } | undefined)?.token);
          if (isKnown) return { tools: offered };
          log("warn", "rejected a connection with a wrong secret to the editor's tools", {});
          request.afterReply(() => void connection.close("wrong secret"));
        }
        if (!isKnown)
          throw new RequestError(
            "auth_required",
            "not authenticated: send hello with the secret of this session",
          );
        if (!offered.includes(method)) throw new RequestError("method_not_found", `unknown tool ${method}`);
        return call(work, method, params, request.signal);
      },
      notification: () => undefined,
    },
  });
  void connection.closed.then(() => work.close());
  return connection;
}

async function call(
  work: ClientToolCalls,
  method: string,
  params: unknown,
  signal: AbortSignal,
): Promise<object> {
  try {
    return { text: await work.call(method, params, signal) };
  } catch (error) {
    // errors of the editor reach the agent unchanged
    if (error instanceof RequestError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new RequestError(error instanceof ConnectionError ? "unavailable" : "internal_error", message);
  }
}

function isSame(token: string, given: unknown): boolean {
  if (typeof given !== "string") return false;
  const [wanted, got] = [Buffer.from(token), Buffer.from(given)];
  return wanted.length === got.length && timingSafeEqual(wanted, got);
}

export const folderPrefix = "parley-bridge-";
export const socketName = "editor.sock";

/** Never rejects. */
export async function removeStaleFolders(): Promise<void> {
  const folder = tmpdir();
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

/** A folder without a socket may belong to a bridge that is starting. */
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
