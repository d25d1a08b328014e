// Converts between the error of a prompt's result and the error on the wire, which has no kind.

import { errorKindOf } from "../jsonrpc/error-kinds.ts";
import type { PromptError } from "./update.ts";

export type WireError = Omit<PromptError, "kind">;

export function promptError(error: WireError): PromptError {
  return { ...error, kind: errorKindOf(error.code, error.data) };
}

export function wireError({ kind: _, ...error }: PromptError): WireError {
  return error;
}
