// Connects to each configured MCP server and asks for its name.

import { RequestError } from "@parley/acp";
import { Connection } from "@parley/acp/jsonrpc";
import type { McpServer } from "@parley/acp/model";
import { spawnTransport, stderrReason } from "@parley/acp/node";
import { agentEnvironment, findAgentProgram } from "@parley/client/launch";
import { ownVersion } from "../settings/installation.ts";
import { safeLine } from "../terminal/sanitise.ts";
import type { Finding } from "./examine.ts";

/** A widely supported MCP version; a server answers with its own. */
const protocolVersion = "2025-06-18";

/** Requests of a server are refused. */
const noHandlers = {
  request() {
    throw new RequestError("method_not_found", "method not supported");
  },
  notification: () => undefined,
};

export async function examineServers(
  servers: readonly McpServer[],
  timeoutMs: number,
): Promise<readonly Finding[]> {
  const hello = {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: "parley", version: ownVersion() },
  };
  return Promise.all(
    servers.map(async (server) => {
      const what = `MCP server ${String(server.name)}`;
      try {
        return { what, state: "ok" as const, detail: safeLine(await serverName(server, hello, timeoutMs)) };
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        const detail = text.split("\n").map(safeLine).join("\n");
        return { what, state: "broken" as const, detail, todo: "fix it: parley config edit" };
      }
    }),
  );
}

function serverName(server: McpServer, hello: object, timeoutMs: number): Promise<string> {
  if (server.type === "stdio") return nameOverStdio(server, hello, timeoutMs);
  return nameOverHttp(server as Http, hello, timeoutMs); // the config knows no others
}

type Stdio = Extract<McpServer, { type: "stdio" }>;
type Http = Extract<McpServer, { type: "http" | "sse" }>;

async function nameOverStdio(
  { command, args = [], env = [] }: Stdio,
  hello: object,
  timeoutMs: number,
): Promise<string> {
  const found = findAgentProgram(command, process.env, process.cwd());
  if (!("path" in found)) throw new Error(`command not found: ${command}`);
  const declared = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  // nothing of our environment is inherited
  const none = Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));
  const child = spawnTransport(found.path, args, {
    env: { ...none, ...agentEnvironment({ env: declared, pass: [] }, process.env) },
    graceMs: 500,
  });
  const connection = new Connection(child, { noise: "skip", handlers: noHandlers });
  try {
    return described(await connection.request("initialize", hello, { timeoutMs }));
  } catch (error) {
    const words = stderrReason(child.stderrTail());
    const reason = error instanceof RequestError ? `it refused: ${error.message}` : (error as Error).message; // request rejects with errors
    throw new Error(words === "" ? reason : `${reason}. It wrote:\n${words}`);
  } finally {
    await connection.close();
  }
}

/** The response may be JSON or an event stream. */
async function nameOverHttp(
  { url, headers = [], type }: Http,
  hello: object,
  timeoutMs: number,
): Promise<string> {
  const isOld = type === "sse";
  const response = await fetch(url, {
    method: isOld ? "GET" : "POST",
    headers: {
      accept: isOld ? "text/event-stream" : "application/json, text/event-stream",
      ...(isOld ? {} : { "content-type": "application/json" }),
      ...Object.fromEntries(headers.map(({ name, value }) => [name, value])),
    },
    ...(isOld
      ? {}
      : { body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: hello }) }),
    // another host would get the headers
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error: Error) => {
    throw new Error(error.name === "TimeoutError" ? `no response within ${timeoutMs} ms` : "cannot connect");
  });
  try {
    if (response.status === 401 || response.status === 403)
      throw new Error(`login required (${response.status})`);
    const location = response.headers.get("location");
    if (response.status >= 300 && response.status < 400 && location !== null)
      throw new Error(`it redirects to ${location.slice(0, 200)}; set its url to the final address`);
    if (!response.ok) throw new Error(`HTTP status ${response.status}`);
    return isOld ? "reachable" : described(await firstAnswer(response));
  } finally {
    await response.body?.cancel().catch(() => undefined);
  }
}

async function firstAnswer(response: Response): Promise<unknown> {
  let text = "";
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error("empty response");
  try {
    for (let read = await reader.read(); ; read = await reader.read()) {
      text += decoder.decode(read.value, { stream: !read.done });
      const answer = answerIn(text);
      if (answer !== undefined) return answer;
      if (read.done || text.length > 1_000_000) throw new Error("the response is not MCP");
    }
  } finally {
    reader.releaseLock();
  }
}

function answerIn(text: string): unknown {
  const lines = text.startsWith("{")
    ? [text]
    : text.split(/\r?\n/).filter((line) => line.startsWith("data:"));
  for (const line of lines) {
    try {
      const message = JSON.parse(line.replace(/^data:/, "")) as {
        result?: unknown;
        error?: { message?: unknown };
      };
      if (message.error !== undefined)
        throw new RequestError("other", `it refused: ${String(message.error.message)}`, { code: 0 });
      if (message.result !== undefined) return message.result;
    } catch (error) {
      if (error instanceof RequestError) throw error;
      // incomplete JSON
    }
  }
  return undefined;
}

function described(result: unknown): string {
  const { serverInfo, protocolVersion: spoken } = (result ?? {}) as {
    serverInfo?: { name?: unknown; version?: unknown };
    protocolVersion?: unknown;
  };
  if (typeof spoken !== "string") throw new Error("the response is not MCP");
  return `${String(serverInfo?.name ?? "unnamed server")} ${String(serverInfo?.version ?? "")}, MCP ${spoken}`;
}
