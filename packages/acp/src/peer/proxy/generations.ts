// How the components of a chain write what the protocol of proxies adds: names have changed twice.

export interface Generation {
  readonly name: "current" | "underscored";
  /** The method that makes a component a proxy. */
  readonly initialize: string;
  /** The envelope of what goes to, or comes from, the successor of a proxy. */
  readonly successor: string;
  /** A cancel of a request in an envelope is in an envelope too. */
  readonly wrapsCancel: boolean;
  /** It may send and take arrays of messages. */
  readonly takesBatches: boolean;
}

export const currentGeneration: Generation = {
  name: "current",
  initialize: "proxy/initialize",
  successor: "proxy/successor",
  wrapsCancel: false,
  takesBatches: false,
};

/** Of the Rust SDK before 5.0. */
export const underscoredGeneration: Generation = {
  name: "underscored",
  initialize: "_proxy/initialize",
  successor: "_proxy/successor",
  wrapsCancel: true,
  takesBatches: true,
};

const generations = [currentGeneration, underscoredGeneration] as const;

/** The generation that has this name for the first message to a proxy. */
export function generationOfInitialize(method: string): Generation | undefined {
  return generations.find(({ initialize }) => initialize === method);
}

/** The generation that has this name for the envelope. */
export function generationOfSuccessor(method: string): Generation | undefined {
  return generations.find(({ successor }) => successor === method);
}

const sacpMethods = new Set(["_proxy/successor/request", "_proxy/successor/notification"]);

/** Why a method or an introduction of the names of 2025 cannot be taken; undefined for others. */
export function sacpSentence(method: string, params?: unknown): string | undefined {
  const isOld = sacpMethods.has(method) || (method === "initialize" && isProxyOf2025(params));
  if (!isOld) return undefined;
  return `${method}: this name of sacp (2025) is no longer supported: update the proxy or the conductor to proxy/initialize and proxy/successor`;
}

function isProxyOf2025(params: unknown): boolean {
  const { _meta: meta } = (params ?? {}) as { readonly _meta?: { readonly proxy?: unknown } | null };
  return meta?.proxy === true;
}
