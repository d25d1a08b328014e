// The error for params that break a rule of the protocol.

import { optional } from "../base/optional.ts";
import { RequestError, rpcCodes } from "./errors.ts";

/** -32602. `path` is the JSON pointer of the wrong value in the params. */
export function invalidParams(message: string, path?: string): RequestError {
  return new RequestError(rpcCodes.invalidParams, message, {
    reason: "invalid_params",
    ...optional({ path }),
  });
}
