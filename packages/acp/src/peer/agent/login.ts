// Logs in by a method that the agent listed.

import { invalidParams } from "../../jsonrpc/invalid-params.ts";
import type { AgentDefinition } from "./agent-definition.ts";

/** Throws -32602 for a method that is unknown, or that the client runs in a terminal (C12). */
export async function logIn(definition: AgentDefinition, methodId: string): Promise<void> {
  const { authMethods = [] } = definition;
  const method = authMethods.find((each) => each.methodId === methodId);
  if (method === undefined || method.type === "terminal" || definition.login === undefined) {
    const known = authMethods.filter(({ type }) => type !== "terminal").map((each) => String(each.methodId));
    const message = `there is no such method to log in with; there are: ${known.join(", ") || "none"}`;
    throw invalidParams(message, "/methodId");
  }
  await definition.login(methodId);
}
