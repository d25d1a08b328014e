// Connects to one MCP server, and removes its credentials from everything that it answers.

import { pathToFileURL } from "node:url";
import type {
  CallToolResult,
  ElicitRequestParams,
  GetPromptResult,
  Progress,
  Prompt,
  ReadResourceResult,
  Resource,
  SpecTypeName,
  SpecTypes,
  Tool,
} from "@modelcontextprotocol/client";
import { abortable, isObject } from "@parley/acp/jsonrpc";
import type { McpChannel, McpParams } from "@parley/acp/model";
import { connectMcp, type McpConnection, type McpHost } from "@parley/mcp";
import { checkedFetch } from "../network/pinned-request.ts";
import type { ServerLogin } from "../oauth/server-login.ts";
import type { ServerQuestions } from "./elicitation.ts";
import { describeFailure } from "./failure.ts";
import { accessOf, type ServerEntry } from "./server-entry.ts";

/** Turns wait for the lists: all of their pages have the time of a start. */
const listMs = 30_000;
/** A list that never ends is cut here. */
const mostPages = 64;

export interface ConnectionOptions {
  /** The agent's version. */
  readonly version: string;
  roots(): readonly string[];
  /** Called when the server reports a changed list. */
  changed(list: "tools" | "prompts"): void;
  /** Called when the connection ends by itself. */
  ended(): void;
  readonly questions: ServerQuestions;
  /** Private hosts that the user's settings allow. */
  readonly privateHosts: readonly string[];
  /** Gives its token to the requests; undefined for servers without logins. */
  readonly login?: ServerLogin | undefined;
  readonly signal: AbortSignal;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** Rejects with an Error whose message is for the user. Loads the MCP client on first use, since that takes 250 ms. */
export async function openConnection(
  entry: ServerEntry,
  options: ConnectionOptions,
): Promise<ServerConnection> {
  const { signal } = options;
  signal.throwIfAborted();
  try {
    if (entry.type === "acp")
      return await ServerConnection.on(entry, await entry.connect({ signal }), options);
    const { server, cwd, timeoutMs } = entry;
    const connection = await connectMcp(server, { cwd, timeoutMs, signal, host: hostOf(entry, options) });
    return await ServerConnection.on(entry, connection, options, connection);
  } catch (error) {
    throw new Error(describeFailure(error, entry));
  }
}

export class ServerConnection {
  readonly #entry: ServerEntry;
  readonly #channel: McpChannel;
  /** The one that we opened; undefined for a server of the client. */
  readonly #own: McpConnection | undefined;
  readonly #login: ServerLogin | undefined;
  readonly #capabilities: Readonly<Record<string, unknown>>;

  static async on(
    entry: ServerEntry,
    channel: McpChannel,
    { login, signal }: Pick<ConnectionOptions, "login" | "signal">,
    own?: McpConnection,
  ): Promise<ServerConnection> {
    const found = await channel.request("server/discover", {}, { signal });
    const capabilities = isObject(found) && isObject(found["capabilities"]) ? found["capabilities"] : {};
    return new ServerConnection(entry, channel, capabilities, login, own);
  }

  private constructor(
    entry: ServerEntry,
    channel: McpChannel,
    capabilities: Readonly<Record<string, unknown>>,
    login: ServerLogin | undefined,
    own: McpConnection | undefined,
  ) {
    this.#entry = entry;
    this.#channel = channel;
    this.#capabilities = capabilities;
    this.#login = login;
    this.#own = own;
  }

  get hasResources(): boolean {
    return this.#capabilities["resources"] !== undefined;
  }

  async tools(signal: AbortSignal): Promise<readonly Tool[]> {
    if (this.#capabilities["tools"] === undefined) return [];
    return (await this.#listed("tools/list", "ListToolsResult", signal)).flatMap(({ tools }) => tools);
  }

  async prompts(signal: AbortSignal): Promise<readonly Prompt[]> {
    if (this.#capabilities["prompts"] === undefined) return [];
    return (await this.#listed("prompts/list", "ListPromptsResult", signal)).flatMap(
      ({ prompts }) => prompts,
    );
  }

  async resources(call: CallOptions): Promise<readonly Resource[]> {
    const pages = await this.#pages("resources/list", "ListResourcesResult", call);
    return pages.flatMap(({ resources }) => resources);
  }

  callTool(name: string, input: Record<string, unknown>, call: CallOptions): Promise<CallToolResult> {
    return this.#ask("tools/call", "CallToolResult", { name, arguments: input }, call);
  }

  prompt(name: string, args: Record<string, string>, call: CallOptions): Promise<GetPromptResult> {
    return this.#ask("prompts/get", "GetPromptResult", { name, arguments: args }, call);
  }

  resource(uri: string, call: CallOptions): Promise<ReadResourceResult> {
    return this.#ask("resources/read", "ReadResourceResult", { uri }, call);
  }

  /** Tells the server that the roots have changed. */
  async rootsChanged(): Promise<void> {
    await this.#own?.notify("notifications/roots/list_changed");
  }

  close(): Promise<void> {
    return this.#channel.close();
  }

  async #listed<Name extends SpecTypeName>(
    method: string,
    type: Name,
    signal: AbortSignal,
  ): Promise<SpecTypes[Name][]> {
    const late = AbortSignal.timeout(this.#entry.timeoutMs ?? listMs);
    try {
      return await abortable(late, this.#pages(method, type, { signal: AbortSignal.any([signal, late]) }));
    } catch (error) {
      if (!late.aborted || signal.aborted) throw error;
      throw new Error(describeFailure(late.reason, this.#entry, this.#own));
    }
  }

  async #pages<Name extends SpecTypeName>(
    method: string,
    type: Name,
    call: CallOptions,
  ): Promise<SpecTypes[Name][]> {
    const pages: SpecTypes[Name][] = [];
    let cursor: unknown;
    do {
      const page = await this.#ask(method, type, cursor === undefined ? {} : { cursor }, call);
      pages.push(page);
      cursor = (page as { nextCursor?: unknown }).nextCursor;
    } while (cursor !== undefined && pages.length < mostPages);
    return pages;
  }

  async #ask<Name extends SpecTypeName>(
    method: string,
    type: Name,
    params: McpParams,
    { signal, onProgress }: CallOptions,
  ): Promise<SpecTypes[Name]> {
    const { secrets } = this.#entry;
    try {
      const result = await this.#channel.request(method, params, {
        signal,
        ...(onProgress !== undefined && {
          // as: each field is shown as it is
          onNotification: (sent, progress) =>
            sent === "notifications/progress" && onProgress(secrets.clean(progress as unknown as Progress)),
        }),
      });
      return secrets.clean(await validated(method, type, result));
    } catch (error) {
      signal.throwIfAborted();
      const { name, requiredScope } = error as { name?: unknown; requiredScope?: unknown }; // each is checked
      // the user is asked with the next turn
      if (name === "InsufficientScopeError" && typeof requiredScope === "string")
        this.#login?.needsMore(requiredScope);
      throw new Error(describeFailure(error, this.#entry, this.#own));
    }
  }
}

/** A server may answer anything. */
async function validated<Name extends SpecTypeName>(
  method: string,
  type: Name,
  result: unknown,
): Promise<SpecTypes[Name]> {
  const { specTypeSchemas } = await import("@modelcontextprotocol/client");
  const { issues, value } = specTypeSchemas[type]["~standard"].validate(result) as {
    issues?: readonly { readonly message: string; readonly path?: readonly unknown[] }[];
    value: SpecTypes[Name];
  };
  const [first] = issues ?? [];
  if (first === undefined) return value;
  throw new Error(
    `its result of ${method} is not valid: ${(first.path ?? []).map(String).join("/")}: ${first.message}`,
  );
}

/** What the server may ask, and how it is reached. Questions pass on without its credentials. */
function hostOf(
  entry: Exclude<ServerEntry, { type: "acp" }>,
  { version, roots, changed, ended, questions, privateHosts, login }: ConnectionOptions,
): McpHost {
  const { name, secrets } = entry;
  const { offered } = questions;
  return {
    info: { name: "parley", title: "Parley", version },
    capabilities: { roots: { listChanged: true }, ...(offered && { elicitation: offered }) },
    async request(method, params) {
      if (method === "roots/list")
        return { roots: roots().map((path) => ({ uri: pathToFileURL(path).href })) };
      // as: the client has validated it
      return questions.ask(name, secrets.clean(params as unknown as ElicitRequestParams));
    },
    notification(method, params) {
      if (method === "notifications/tools/list_changed") changed("tools");
      if (method === "notifications/prompts/list_changed") changed("prompts");
      const id = params?.["elicitationId"];
      if (method === "notifications/elicitation/complete" && typeof id === "string") questions.done(name, id);
    },
    ended,
    // redirects to other hosts, which would get the headers, are not followed
    ...(entry.type !== "stdio" && { fetch: checkedFetch(accessOf(entry, privateHosts)) }),
    auth: login,
  };
}
