// Everything in sections A and B that ends a connection; after every other case it serves the next request.
//
//   N002, N003   100 lines of noise and no message     client, everywhere
//   N012 - N014  a text frame that is not UTF-8        both, WebSocket (the socket itself closes with 1007)
//   N025         64 MiB without a line feed            both, stdio
//   N027 - N029  the peer ends the input               both, stdio

import type { TransportName } from "./bad-input.ts";
import type { Role } from "./subject.ts";

export interface Closing {
  readonly ids: readonly string[];
  readonly roles: readonly Role[];
  readonly on: readonly TransportName[];
  /** The kind of the ConnectionError with which the connection closes. */
  readonly kind: string;
}

export const closings: readonly Closing[] = [
  { ids: ["N002", "N003"], roles: ["client"], on: ["memory", "websocket", "stdio"], kind: "protocol" },
  { ids: ["N012", "N013", "N014"], roles: ["agent", "client"], on: ["websocket"], kind: "closed" },
  { ids: ["N025"], roles: ["agent", "client"], on: ["stdio"], kind: "too_large" },
  { ids: ["N027", "N028", "N029"], roles: ["agent", "client"], on: ["stdio"], kind: "closed" },
];
