// client(): written once, speaks every version.

import {
  answeredVersion,
  initializeParams,
  loadClientVersion,
  type ProtocolVersion,
  protocolVersions,
} from "../edition/negotiate.ts";
import { Connection } from "../jsonrpc/connection.ts";
import { ConnectionError, RequestError, rpcCodes } from "../jsonrpc/errors.ts";
import type { Transport } from "../jsonrpc/transport.ts";
import { refuseBatch } from "./batch-rules.ts";
import { BoundWire, sessionOf } from "./bound-wire.ts";
import type { ClientDefinition } from "./client-definition.ts";
import { offeredFeatures } from "./client-features.ts";
import { ClientWire } from "./client-wire.ts";
import { ConnectedAgent } from "./connected-agent.ts";
import { HeldInput } from "./held-input.ts";

export interface Client {
  readonly definition: ClientDefinition;
  /** Shakes hands with an agent. Rejects with the reason when it cannot be reached or speaks another language. */
  connect(transport: Transport): Promise<ConnectedAgent>;
}

/** A client from what it does with questions, files and terminals. */
export function client(definition: ClientDefinition): Client {
  return { definition, connect: (transport) => connect(transport, definition) };
}

async function connect(transport: Transport, definition: ClientDefinition): Promise<ConnectedAgent> {
  const held = new HeldInput();
  let wire: ClientWire | undefined;
  const connection = new Connection(transport, {
    // an agent's stdout may carry other people's prints
    noise: "skip",
    ...definition,
    scopeOf: sessionOf,
    refuseBatch,
    handlers: {
      // what comes before the version is known waits for it, in order
      request: (method, params, request) =>
        wire === undefined
          ? held.request(() => wire?.requested(method, params, request))
          : wire.requested(method, params, request),
      notification(method, params, text) {
        if (wire === undefined) held.notification(() => wire?.notified(method, params, text.length));
        else wire.notified(method, params, text.length);
      },
    },
  });
  try {
    const result = await handshake(connection, definition);
    const version = spokenVersion(result, definition.versions ?? protocolVersions);
    const { edition, wire: wireVersion } = await loadClientVersion(version);
    connection.idPolicy = wireVersion.idPolicy;
    const bound = new BoundWire(
      wireVersion,
      "client",
      definition.unstable ?? [],
      definition.log ?? (() => undefined),
    );
    // an agent may echo another number than the language that it speaks
    const said = { ...(result as object), protocolVersion: version };
    const { receive } = bound.prepare("initialize", initialize(definition, [version]));
    const introduction = edition.agent(receive(said) as object); // every result of the table is an object
    const bindings = new ClientWire(connection, definition, bound, edition);
    wire = bindings;
    held.release();
    return new ConnectedAgent(definition, bindings, edition, introduction);
  } catch (error) {
    held.drop(new RequestError(rpcCodes.cancelled, "cancelled: the handshake failed"));
    await connection.close("the handshake failed");
    throw error;
  }
}

async function handshake(connection: Connection, definition: ClientDefinition): Promise<unknown> {
  const versions = definition.versions ?? protocolVersions;
  const timeoutMs = definition.handshakeTimeoutMs ?? 60_000;
  const send = (offered: readonly ProtocolVersion[]) =>
    connection.request("initialize", initialize(definition, offered), { timeoutMs });
  try {
    return await send(versions);
  } catch (error) {
    if (error instanceof ConnectionError && error.kind === "timeout") {
      throw new ConnectionError(
        "handshake_timeout",
        `the agent did not answer initialize within ${timeoutMs} ms`,
        error,
      );
    }
    // an agent that chokes on what it does not know gets the oldest version by itself
    const choked = error instanceof RequestError && error.code !== rpcCodes.methodNotFound;
    if (!choked || versions.length < 2 || !versions.includes(1)) throw error;
    return send([1]);
  }
}

function initialize(definition: ClientDefinition, versions: readonly ProtocolVersion[]): object {
  const { name, version, title, meta } = definition;
  const info = { name, version, ...(title === undefined ? {} : { title }) };
  return initializeParams({ info, features: offeredFeatures(definition), meta }, versions);
}

function spokenVersion(result: unknown, versions: readonly ProtocolVersion[]): ProtocolVersion {
  const answered = answeredVersion(result);
  const known = versions.find((version) => version === answered);
  if (known !== undefined) return known;
  const got = answered === undefined ? "no version" : `version ${answered}`;
  throw new ConnectionError(
    "protocol",
    `the agent answered with ${got} of the protocol, this client speaks ${versions.join(" and ")}: update one of the two`,
  );
}
