// All error codes by name: those of JSON-RPC, of the protocol and of Parley.

import { rpcCodes } from "../jsonrpc/errors.ts";

export const errorCodes = {
  ...rpcCodes,
  /** Nobody is logged in. */
  authRequired: -32000,
  /** No such session, file, terminal or command. */
  notFound: -32002,
  /** The two sides have no version in common. */
  unsupportedVersion: -32022,
  permissionDenied: -32060,
  outsideWorkspace: -32061,
  notText: -32062,
  turnInProgress: -32064,
  conflict: -32066,
  unavailable: -32067,
  timeout: -32068,
} as const;
