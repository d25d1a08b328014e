// Builds the `initialize` that a relay sends to an agent whose version is not known yet.

import { isObject, optional } from "../../base/objects.ts";
import type { ClientCapabilities } from "../../edition/agent-edition.ts";
import { partsMetaFromV1, partsMetaOf } from "../../edition/capability-meta.ts";
import { halfOf, initializeParams, type ProtocolVersion } from "../../edition/negotiate.ts";
import type { Implementation, Meta } from "../../model/content.ts";
import type { UnstableFeatures } from "../../validation/unstable-features.ts";
import { bindMethod, decodeParams, Failure } from "../../wire/decode.ts";
import { forwarding } from "../base/bound-wire.ts";
import { loadAgentVersion } from "../base/load-version.ts";

/** The params of an `initialize`, as they came. */
export type InitializeParams = Readonly<Record<string, unknown>>;

export interface Offers {
  /** What to send, one after the other until the agent takes one. */
  readonly offers: readonly object[];
  /** What an agent of the other version does not learn. */
  readonly lost: readonly string[];
}

interface OfferOptions {
  readonly passesEither: boolean;
  readonly unstable: UnstableFeatures;
  /** The only version that the agent is offered, where its edition was named. */
  readonly only?: ProtocolVersion | undefined;
}

/**
 * `passesEither`: what the client says of itself in its other version is true of that connection, too, since an agent
 * that takes it is spoken to without translation.
 */
export async function offersFor(
  params: InitializeParams,
  version: ProtocolVersion,
  { passesEither, unstable, only }: OfferOptions,
): Promise<Offers> {
  const known = await withoutExtras(params, version, unstable);
  const features = passedOn(known, version);
  const lost: string[] = [];
  const other = initializeParams(
    { info: infoOf(known), features, meta: objectMeta(known)._meta },
    [version === 1 ? 2 : 1],
    (what) => lost.push(what),
  );
  if (only !== undefined) {
    const own = version === only ? { ...halfOf(params, only), protocolVersion: only } : other;
    return { offers: [own], lost: version === only ? [] : lost };
  }
  // an agent of the client's version must get the client's own params; the other half is ours: files and
  // terminals that it has in that version do not come through a translation
  const both = {
    ...(passesEither ? { ...other, ...params } : { ...params, ...other }),
    protocolVersion: version,
  };
  // an agent that speaks both is asked for the client's version first, so that nothing has to be translated
  const offers =
    version === 1
      ? [both, { ...both, protocolVersion: 2 }, { ...params, protocolVersion: 1 }]
      : [both, other];
  return { offers, lost };
}

/** The same params with the fields that their version does not have in `_meta`. Params that make no sense stay as they are. */
async function withoutExtras(
  params: InitializeParams,
  version: ProtocolVersion,
  unstable: UnstableFeatures,
): Promise<InitializeParams> {
  const { wire } = await loadAgentVersion(version);
  const row = wire.methods.find(({ method }) => method === "initialize");
  if (row === undefined) return params;
  // a copy: an agent of the client's version gets what the client sent
  const own = structuredClone({ ...halfOf(params, version), protocolVersion: version });
  const decoded = decodeParams(bindMethod(row, unstable, forwarding(wire)), own);
  return decoded instanceof Failure ? params : { ...params, ...own };
}

export function infoOf({ info, clientInfo }: InitializeParams): {
  name: string;
  version: string;
  title?: string;
  _meta?: Meta;
} {
  const given = (info ?? clientInfo) as Partial<Implementation> | undefined;
  const { name = "unknown", version = "unknown", title } = given ?? {};
  return {
    name: String(name),
    version: String(version),
    ...optional({ title: title == null ? undefined : String(title) }),
    ...objectMeta(given),
  };
}

/** `_meta` of what has not been validated. */
function objectMeta(value: unknown): { _meta?: Meta } {
  const meta: unknown = isObject(value) ? value["_meta"] : undefined;
  return isObject(meta) ? { _meta: meta } : {};
}

/** The features of a client that an agent of the other version can use through the relay. Values that make no sense count as absent. */
export function passedOn(params: InitializeParams, version: ProtocolVersion): ClientCapabilities {
  const can = (version === 1 ? params.clientCapabilities : params.capabilities) as
    | {
        auth?: { terminal?: unknown };
        elicitation?: { form?: unknown; url?: unknown };
        plan?: unknown;
        subagents?: unknown;
      }
    | null
    | undefined;
  const has = (value: unknown): boolean => value === true || (typeof value === "object" && value !== null);
  return {
    readTextFile: false,
    writeTextFile: false,
    terminal: false,
    terminalAuth: has(can?.auth?.terminal),
    elicitationForm: has(can?.elicitation?.form),
    elicitationUrl: has(can?.elicitation?.url),
    booleanOptions: true,
    notices: true,
    compaction: true,
    // version 2 has no word for these: its clients show them, or ignore what they do not know
    plans: version === 2 || has(can?.plan),
    subagents: version === 2 || has(can?.subagents),
    terminalOutput: true,
    ...objectMeta(can),
    ...(isObject(can) ? (version === 1 ? partsMetaFromV1(can) : partsMetaOf(can)) : {}),
  };
}

/** A client that says both halves of the handshake takes either answer. */
export function takesEither({ clientCapabilities, capabilities }: InitializeParams): boolean {
  return clientCapabilities !== undefined && capabilities !== undefined;
}
