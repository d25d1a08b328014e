// The bad inputs that end a connection; after every other one the subject serves the next request.

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
  // 100 lines of noise and no message
  { ids: ["N002", "N003"], roles: ["client"], on: ["memory", "websocket", "stdio"], kind: "protocol" },
  // a text frame that is not UTF-8: the socket itself closes with 1007
  { ids: ["N012", "N013", "N014"], roles: ["agent", "client"], on: ["websocket"], kind: "closed" },
  // 64 MiB without a line feed
  { ids: ["N025"], roles: ["agent", "client"], on: ["stdio"], kind: "too_large" },
  // the peer ends the input
  { ids: ["N027", "N028", "N029"], roles: ["agent", "client"], on: ["stdio"], kind: "closed" },
];
