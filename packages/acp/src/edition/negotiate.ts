// Negotiates the version of a connection, with a handshake that peers of either version understand.

import { optional } from "../base/objects.ts";
import { RequestError } from "../jsonrpc/errors.ts";
import type { Implementation, Meta } from "../model/content.ts";
import type { ClientCapabilities, Lost } from "./agent-edition.ts";
import { clientPlaces, toWire } from "./capabilities.ts";
import { withPartsMeta, withPartsMetaInV1 } from "./capability-meta.ts";
import type { Dialect } from "./dialect.ts";

/** A version of the protocol. More will be added: give a `switch` over it a `default:`. */
export type Edition = "v1" | "v2";

/** One version of the protocol or dialect of version 1, or more of them, the preferred one first. */
export type Editions = readonly [Edition | Dialect, ...(Edition | Dialect)[]];

/** The name of what a connection speaks: a version of the protocol, or a dialect as it calls itself. */
export type EditionName = Edition | (string & {});

/** The editions that are spoken unless an app says otherwise. */
export const defaultEditions: Editions = ["v2", "v1"];

/** The name of an edition. */
export function nameOf(edition: Edition | Dialect): EditionName {
  return isDialect(edition) ? edition.name : edition;
}

export function isDialect(edition: Edition | Dialect): edition is Dialect {
  return typeof edition === "object";
}

export function dialectsOf(editions: readonly (Edition | Dialect)[]): readonly Dialect[] {
  return editions.filter(isDialect);
}

/** The number that an edition has in `initialize`. */
export type ProtocolVersion = 1 | 2;

export function versionOf(edition: EditionName | Dialect): ProtocolVersion {
  return edition === "v2" ? 2 : 1;
}

/** The versions to negotiate. Dialects are translated to version 1 before. */
export function versionsOf(editions: readonly (Edition | Dialect)[]): readonly ProtocolVersion[] {
  const versions = editions.filter((edition) => !isDialect(edition)).map(versionOf);
  return versions.length === 0 ? [1] : versions;
}

export function editionOf(version: ProtocolVersion): Edition {
  return version === 1 ? "v1" : "v2";
}

/** The version that an agent answers with. Throws RequestError "invalid_params" for what is no version, "unsupported_version" where none fits. */
export function chooseVersion(params: unknown, supported: readonly ProtocolVersion[]): ProtocolVersion {
  const requested = (params as { protocolVersion?: unknown } | null | undefined)?.protocolVersion;
  if (!Number.isInteger(requested) || (requested as number) < 0 || (requested as number) > 65_535) {
    throw RequestError.invalidParams(
      "initialize: params/protocolVersion must be an integer from 0 to 65535",
      "/protocolVersion",
    );
  }
  const wanted = requested as number;
  const fits = supported.find((version) => version <= wanted);
  if (fits !== undefined) return fits;
  const newest = supported[0] ?? 1;
  // an agent that only knows version 1 answers its own and never errs (A3); one that knows more says what it has (A5)
  if (supported.length === 1 && newest === 1) return 1;
  throw new RequestError("unsupported_version", `protocol version ${wanted} is not supported`, {
    data: { requested: wanted, supported },
  });
}

/** A request that an agent of either version understands: each reads its own half. */
export function initializeParams(
  client: { info: Implementation; features: ClientCapabilities; meta: Meta | undefined },
  versions: readonly ProtocolVersion[],
  lost?: Lost,
): object {
  const { info, features: can, meta } = client;
  const { partsMeta } = can;
  const newest = Math.max(...versions);
  const declared = (version: ProtocolVersion) => {
    const begun: { readonly elicitation: object; readonly _meta?: Meta } = { elicitation: {} };
    const { _meta: own, ...parts } = toWire(clientPlaces, version, can, begun);
    const _meta = own === undefined ? can._meta : { ...own, ...can._meta };
    return { ...parts, ...optional({ _meta }) };
  };
  return {
    protocolVersion: newest,
    ...(newest >= 2 ? { info, capabilities: withPartsMeta(declared(2), partsMeta, lost) } : {}),
    ...(versions.includes(1)
      ? { clientInfo: info, clientCapabilities: withPartsMetaInV1(declared(1), partsMeta, lost) }
      : {}),
    ...optional({ _meta: meta }),
  };
}

/** The fields of a handshake, of requests and answers, that only one version has. */
const fieldsOf: Readonly<Record<ProtocolVersion, ReadonlySet<string>>> = {
  1: new Set(["clientInfo", "clientCapabilities", "agentInfo", "agentCapabilities"]),
  2: new Set(["info", "capabilities"]),
};

/** The half of a handshake's message that is for this version: the fields of the other one are no custom data. */
export function halfOf(message: object, version: ProtocolVersion): Readonly<Record<string, unknown>> {
  const others = fieldsOf[version === 1 ? 2 : 1];
  return Object.fromEntries(Object.entries(message).filter(([name]) => !others.has(name)));
}

/** The version that an agent's answer speaks. */
export function answeredVersion(result: unknown): number | undefined {
  const { protocolVersion, info, agentCapabilities } = (result ?? {}) as Record<string, unknown>;
  if (!Number.isInteger(protocolVersion)) return undefined;
  // some agents echo the number and then speak version 1
  if (protocolVersion === 2 && info === undefined && agentCapabilities !== undefined) return 1;
  return protocolVersion as number;
}
