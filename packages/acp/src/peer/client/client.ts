// Creates clients and performs their handshake.

import { checkOptions } from "../../base/known-options.ts";
import { isObject, optional } from "../../base/objects.ts";
import type { AgentIntroduction } from "../../edition/agent-edition.ts";
import { enabledCapabilities } from "../../edition/capabilities.ts";
import type { ClientEdition } from "../../edition/client-edition.ts";
import { dialectOf } from "../../edition/dialect.ts";
import { dialectAnswer, dialectOfResult } from "../../edition/dialect-tells.ts";
import {
  answeredVersion,
  defaultEditions,
  editionOf,
  halfOf,
  initializeParams,
  type ProtocolVersion,
  versionOf,
  versionsOf,
} from "../../edition/negotiate.ts";
import { guardedLog } from "../../jsonrpc/callbacks.ts";
import { Connection, setIdPolicy } from "../../jsonrpc/connection.ts";
import type { ConnectionOptions } from "../../jsonrpc/connection-options.ts";
import { continueConnection, handleAgain } from "../../jsonrpc/connection-state.ts";
import { ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import type { InputHook } from "../../jsonrpc/inbound-requests.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import { memoryPair } from "../../transport/memory.ts";
import { wrapTransport } from "../../transport/wrap-transport.ts";
import { sessionOf } from "../../wire/decode.ts";
import type { WireVersion } from "../../wire/method-row.ts";
import { BoundWire, forwarding, refuseBatch } from "../base/bound-wire.ts";
import { HeldInput, loadClientVersion } from "../base/load-version.ts";
import { behindProxies } from "../base/own-proxies.ts";
import { clientDialects } from "../dialect/dialects.ts";
import { abortableCall } from "./call-arguments.ts";
import type { ClientConnection } from "./client-connection.ts";
import {
  type ClientDefinition,
  checkClientDefinition,
  offeredFeatures,
  type RelayHooks,
} from "./client-definition.ts";
import { ClientDispatch } from "./client-dispatch.ts";
import { clientWire } from "./client-wire.ts";
import { ConnectedAgent } from "./connected-agent.ts";
import { type ConnectionSnapshot, editionOfSnapshot, stateOfSnapshot } from "./connection-snapshot.ts";

/** A client, created by `client()`. It connects to any number of agents. */
export interface Client {
  /** The definition that was passed to `client()`. */
  readonly definition: ClientDefinition;
  /**
   * Connects to an agent and negotiates the edition of the protocol. The target is a transport, or an agent in this
   * process, created by `agent()`. Such an agent is connected in memory, and closing either side closes the other.
   *
   * @throws {ConnectionError} When the agent exits, does not answer in time, or answers with another edition (as a rejection).
   * @throws {RequestError} When the agent refuses the handshake, for example of kind "unsupported_version" (as a rejection).
   */
  connect(target: Transport | ConnectableAgent, options?: ConnectOptions): Promise<ClientConnection>;
  /**
   * Goes on with a connection that was put down, without a handshake: the sessions are open, and the answers to its calls and
   * prompts arrive here. The transport leads to the same process of the agent, and goes on in both directions exactly where the
   * snapshot was taken: nothing that was read comes again, and all that was sent arrives. The old connection must send
   * nothing more.
   *
   * - `sessions` of the connection has the sessions, and `prompts` of a session its prompts. Add listeners at once: a session
   *   keeps what arrives until then, at most 1,024 updates.
   * - `pending(key)` has the calls that were open.
   * - Requests of the agent that were not answered reach the handlers of the definition again.
   *
   * Functions cannot be restored: `data` and the listeners of sessions, signals, the state of `policy`, and `tools`, which the
   * agent then finds unavailable. Terminals are there if `terminals` has `find`. Time limits begin anew.
   *
   * @param transport - Leads to the agent.
   * @param snapshot - From `snapshot()` of a connection of the same definition; also after a trip through JSON.
   * @throws {TypeError} When it is no snapshot, when it is broken, or when it is of another version or of an edition that the
   * client does not speak (as a rejection). The transport has not been started then.
   * @example
   * import { readFile } from "node:fs/promises";
   * import { client, type Transport } from "@parley/acp";
   *
   * export async function goOn(transport: Transport): Promise<void> {
   *   const snapshot = JSON.parse(await readFile("connection.json", "utf8"));
   *   const agent = await client({ name: "my-host", version: "1.0.0" }).restore(transport, snapshot);
   *   for (const session of agent.sessions) {
   *     session.onUpdate((update) => console.log(update.sessionUpdate));
   *     for (const prompt of session.prompts) console.log(prompt.key, (await prompt).stopReason);
   *   }
   * }
   */
  restore(transport: Transport, snapshot: ConnectionSnapshot): Promise<ClientConnection>;
}

/**
 * An agent in this process, created by `agent()`.
 *
 * @inline
 */
export interface ConnectableAgent {
  /** Serves one client on this transport. */
  connect(transport: Transport): { close(reason?: string): Promise<void> };
}

/**
 * How a client connects.
 *
 * @inline
 */
export interface ConnectOptions {
  /**
   * Aborting it ends the attempt: the transport is closed, and `connect` rejects with ConnectionError "aborted". It has no
   * effect after the agent has answered.
   */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Creates a client. It needs a name and a version; handlers for questions, files and terminals are optional.
 *
 * @param definition What the client does for agents, and what it allows.
 * @returns The client. Connect it to an agent with `connect`.
 * @throws {TypeError} When a part of the definition is missing, wrong or unknown.
 * @example
 * import { client, textOf } from "@parley/acp";
 * import { spawnTransport } from "@parley/acp/node";
 *
 * const app = client({
 *   name: "my-client",
 *   version: "1.0.0",
 *   requestPermission: ({ options }) => options.find(({ kind }) => kind === "allow_once")?.optionId,
 * });
 * await using connection = await app.connect(spawnTransport("my-agent", ["--acp"]));
 * const session = await connection.newSession({ cwd: process.cwd() });
 * const prompt = session.prompt("What is in this folder?");
 * for await (const update of prompt) {
 *   if (update.sessionUpdate === "agent_message_chunk") process.stdout.write(textOf(update.content));
 * }
 * console.log((await prompt).stopReason);
 */
export function client(definition: ClientDefinition): Client {
  checkClientDefinition(definition);
  return {
    definition,
    async connect(target, options = {}) {
      checkOptions("connect", options, { signal: true });
      const { signal } = options;
      refuseDefinition(target);
      const transport = behindProxies(definition, isAgent(target) ? inMemory(target) : target);
      return connectWith(transport, definition, (connection) =>
        abortableCall(signal, "connect", () => handshake(connection, definition)),
      );
    },
    async restore(transport, snapshot) {
      return restored(transport, definition, snapshot);
    },
  };
}

function refuseDefinition(target: unknown): void {
  if (!isObject(target) || typeof target["prompt"] !== "function" || "connect" in target || "start" in target)
    return;
  throw new TypeError(
    "connect: expected a transport or an agent, got the definition of an agent; call agent(definition) first",
  );
}

function isAgent(target: Transport | ConnectableAgent): target is ConnectableAgent {
  // only the compiler knows that it is one of the two
  const { connect: connects, start } = (target ?? {}) as Partial<ConnectableAgent & Transport>;
  return typeof connects === "function" && start === undefined;
}

/** A transport to an agent of this process. It is closed when the agent's side has closed, too. */
function inMemory(agent: ConnectableAgent): Transport {
  const [ours, theirs] = memoryPair();
  const served = agent.connect(theirs);
  return wrapTransport(ours, {
    async close(reason) {
      await ours.close(reason);
      await served.close("the client has disconnected");
    },
  });
}

/** Connects with a custom handshake, which resolves with the agent's answer to `initialize`. */
export async function connectWith(
  transport: Transport,
  definition: ClientDefinition,
  shakeHands: (connection: Connection) => Promise<unknown>,
  hooks?: RelayHooks,
): Promise<ConnectedAgent> {
  const held = new HeldInput();
  let dispatch: ClientDispatch | undefined;
  // a function of its own: a closure among the handlers would cost an allocation for each message
  const hold = (method: string, params: unknown, chars: number) =>
    held.notification(() => dispatch?.notified(method, params, chars));
  let cameBack: (error: Error) => void = () => undefined;
  // not withResolvers: a runtime that is too old is told so below
  const echo = new Promise<never>((_, reject) => {
    cameBack = reject;
  });
  const { editions = defaultEditions, log } = definition;
  const { transport: spoken, options } = clientDialects(transport, editions, {
    ...definition.connection,
    log,
  });
  const connection = new Connection(spoken, {
    ...ofClients,
    ...optional(options),
    handlers: {
      // messages that come before the version is known wait for it, in order
      request(method, params, request) {
        if (dispatch !== undefined) return dispatch.requested(method, params, request);
        if (method === "initialize") cameBack(new ConnectionError("protocol", echoed));
        return held.request(() => dispatch?.requested(method, params, request));
      },
      notification(method, params, text) {
        if (dispatch === undefined) hold(method, params, text.length);
        else dispatch.notified(method, params, text.length);
      },
    },
  });
  try {
    const result = await Promise.race([shakeHands(connection), echo]);
    const version = spokenVersion(result, dialectOf(spoken) === undefined ? versionsOf(editions) : [1]);
    const loaded = await loadClientVersion(version);
    const { edition } = loaded;
    setIdPolicy(connection, loaded.wire.idPolicy);
    const bound = boundWire(loaded.wire, definition, hooks);
    // an agent may echo another number than the language that it speaks
    const answer = { ...halfOf(result as object, version), protocolVersion: version };
    const { receive } = bound.prepare("initialize", initialize(definition, [version]));
    // every result of the table is an object
    const introduced = edition.agent(receive(answer) as object);
    const enabled = enabledCapabilities(introduced.capabilities, definition.unstable ?? []);
    const introduction = { ...introduced, capabilities: enabled };
    const parts = { connection, transport: spoken, bound, edition, introduction, hooks };
    const connected = connectedAgent(definition, parts);
    dispatch = connected.dispatch;
    held.release();
    return connected.agent;
  } catch (error) {
    held.drop(new RequestError("cancelled", "cancelled: the handshake failed"));
    await connection.close("the handshake failed");
    throw error;
  }
}

/** Goes on with a connection that was put down. Everything happens in one step, before anything is read. */
async function restored(
  transport: Transport,
  definition: ClientDefinition,
  snapshot: ConnectionSnapshot,
): Promise<ConnectedAgent> {
  const { editions = defaultEditions, connection: options, log } = definition;
  if (definition.proxies?.length)
    throw new TypeError("restore: a client with proxies cannot restore a connection; make one without them");
  const name = editionOfSnapshot(snapshot, versionsOf(editions).map(editionOf));
  const { edition, wire } = await loadClientVersion(versionOf(name));
  const state = stateOfSnapshot(snapshot, edition);
  const { introduction } = state;
  const bound = boundWire(wire, definition, undefined);
  let dispatch: ClientDispatch | undefined;
  const connection = new Connection(transport, {
    ...ofClients,
    ...optional({ ...options, log }),
    handlers: {
      request: (method, params, request) => dispatch?.requested(method, params, request),
      notification(method, params, text) {
        dispatch?.notified(method, params, text.length);
      },
    },
  });
  setIdPolicy(connection, wire.idPolicy);
  continueConnection(connection, state.connection);
  const parts = { connection, transport, bound, edition, introduction, hooks: undefined };
  const connected = connectedAgent(definition, parts);
  dispatch = connected.dispatch;
  connected.agent.restore(state);
  handleAgain(connection, state.connection);
  return connected.agent;
}

/** The options that every connection of a client has. */
const ofClients: Pick<ConnectionOptions, "noise" | "scopeOf" | "refuseBatch"> & InputHook = {
  // an agent's stdout may carry prints of its libraries
  noise: "skip",
  scopeOf: sessionOf,
  refuseBatch,
  // a snapshot has the requests that were not answered
  keepsInput: true,
};

function boundWire(
  wire: WireVersion,
  { unstable = [], log }: ClientDefinition,
  hooks: RelayHooks | undefined,
): BoundWire {
  return new BoundWire(hooks === undefined ? wire : forwarding(wire), "client", unstable, guardedLog(log));
}

interface AgentParts {
  readonly connection: Connection;
  readonly transport: Transport;
  readonly bound: BoundWire;
  readonly edition: ClientEdition;
  readonly introduction: AgentIntroduction;
  readonly hooks: RelayHooks | undefined;
}

function connectedAgent(
  definition: ClientDefinition,
  { connection, transport, bound, edition, introduction, hooks }: AgentParts,
): { readonly agent: ConnectedAgent; readonly dispatch: ClientDispatch } {
  const { limits } = definition.connection ?? {};
  const log = guardedLog(definition.log);
  const wire = clientWire({ connection, bound, edition, log, limits, transport });
  const { capabilities: agent } = introduction;
  const dispatch = new ClientDispatch(wire, connection.closed, { definition, agent, bound, edition, hooks });
  return { agent: new ConnectedAgent({ wire, dispatch, edition, introduction }, definition), dispatch };
}

/** Programs such as cat do so. */
const echoed =
  "initialize came back as it was sent: the program is not an agent; check its command and arguments";

function handshake(connection: Connection, definition: ClientDefinition): Promise<unknown> {
  const versions = versionsOf(definition.editions ?? defaultEditions);
  const offers = [initialize(definition, versions)];
  // an agent that chokes on what it does not know gets the oldest version by itself
  if (versions.length > 1 && versions.includes(1)) offers.push(initialize(definition, [1]));
  return offerInTurn(connection, offers, definition.connection?.handshakeTimeoutMs ?? 60_000);
}

/** Sends one `initialize` after the other until the agent takes one. */
export async function offerInTurn(
  connection: Connection,
  [offer, ...rest]: readonly object[],
  timeoutMs: number,
): Promise<unknown> {
  try {
    return await connection.request("initialize", offer, { timeoutMs });
  } catch (error) {
    if (error instanceof ConnectionError && error.kind === "timeout") {
      throw new ConnectionError(
        "handshake_timeout",
        `the agent did not answer initialize within ${timeoutMs} ms`,
        error,
      );
    }
    const choked = error instanceof RequestError && error.kind !== "method_not_found";
    if (!choked || rest.length === 0) throw error;
    return offerInTurn(connection, rest, timeoutMs).catch((again: unknown) => {
      // the refusal says more than the end of the connection that followed it
      throw again instanceof ConnectionError && again.kind === "closed" ? error : again;
    });
  }
}

function initialize(definition: ClientDefinition, versions: readonly ProtocolVersion[]): object {
  const { name, version, title, handshakeMeta = {} } = definition;
  const info = { name, version, ...optional({ title, _meta: handshakeMeta.info }) };
  const features = offeredFeatures(definition);
  return initializeParams({ info, features, meta: handshakeMeta.initialize }, versions);
}

function spokenVersion(result: unknown, versions: readonly ProtocolVersion[]): ProtocolVersion {
  // before the other version's half is taken out of it
  const dialect = dialectOfResult("initialize", result);
  if (dialect !== undefined) throw dialectAnswer("initialize", dialect);
  const answered = answeredVersion(result);
  const known = versions.find((version) => version === answered);
  if (known !== undefined) return known;
  const got = answered === undefined ? "no version" : `version ${answered}`;
  throw new ConnectionError(
    "protocol",
    `the agent answered with ${got} of the protocol, this client speaks ${versions.join(" and ")}: update one of the two`,
  );
}
