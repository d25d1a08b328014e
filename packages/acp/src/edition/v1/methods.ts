// The methods of version 1: those of its schema, and the models, which left the schema and are still in use.

import { isObject } from "../../base/objects.ts";
import { type Failure, modes, wrongType } from "../../validation/failure.ts";
import type { MethodRow } from "../../wire/method-row.ts";
import { methodTable } from "../../wire/methods.gen.ts";
import { methods as schemaMethods } from "../../wire/v1/methods.gen.ts";

const setModel: MethodRow = {
  method: "session/set_model",
  receiver: "agent",
  kind: "request",
  params: setModelFailure,
  paramsType: "SetSessionModelRequest",
  paramsMayBeEmpty: false,
  result: () => undefined,
  resultType: "SetSessionModelResponse",
  resultMayBeEmpty: true,
};

export const methods: readonly MethodRow[] = [...schemaMethods.map(withModels), setModel];

/** The answers that open a session may have `models`, which a strict validator does not know. */
function withModels(row: MethodRow): MethodRow {
  const { method, result } = row;
  const effect = methodTable.get(method)?.session;
  if (result === undefined || (effect !== "opens" && effect !== "attaches")) return row;
  return {
    ...row,
    result(value, mode) {
      if ((mode & (modes.strict | modes.extras)) === 0 || !isObject(value)) return result(value, mode);
      const answer: Record<string, unknown> = value; // one that we made, or that was just parsed
      const { models } = answer;
      delete answer["models"];
      const failure = result(answer, mode);
      if (models !== undefined) answer["models"] = models;
      return failure;
    },
  };
}

function setModelFailure(params: unknown): Failure | undefined {
  if (!isObject(params)) return wrongType("", "object", params);
  for (const field of ["sessionId", "modelId"])
    if (typeof params[field] !== "string") return wrongType(`/${field}`, "string", params[field]);
  return undefined;
}
