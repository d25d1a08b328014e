// Checks the logins of a client, and reads their answers.

import { optional } from "../../base/objects.ts";
import { credentialsKey, expiresAtKey } from "../../base/parley-extensions.ts";
import type { Credentials } from "../../edition/agent-edition.ts";
import { understands } from "../../edition/dialect.ts";
import { metaOf } from "../../edition/wire-fields.ts";
import type { AuthMethod } from "../../model/content.ts";
import type { ClientConnection, LoginResult } from "./client-connection.ts";

/** Throws a TypeError for a method that the agent does not have, or that is never sent to it. */
export function checkLogin(methodId: string, methods: readonly AuthMethod[]): void {
  const method = methods.find((each) => each.methodId === methodId);
  if (method === undefined) {
    const known = methods.map((each) => String(each.methodId)).join(", ");
    throw new TypeError(`login: the agent has no method ${methodId}; it has: ${known || "none"}`);
  }
  // never sent to the agent (C11)
  if (method.type === "terminal")
    throw new TypeError(
      `login: ${methodId} is a terminal login: run the agent's program with its arguments, then connect again`,
    );
}

/** Throws a TypeError for credentials that the agent has no place for. */
export function checkCredentials(
  credentials: Credentials | undefined,
  { edition, dialect }: Pick<ClientConnection, "edition" | "dialect">,
): void {
  if (credentials === undefined || understands(dialect, credentialsKey)) return;
  throw new TypeError(
    `login: this agent speaks ${edition}, which has no place for credentials, and they were not sent; give them to the agent as variables of its environment, or use its other methods`,
  );
}

/** The end of the login is custom data of the answer. */
export function loginResult(answer: object): LoginResult {
  const { _meta } = metaOf(answer);
  const expiresAt = _meta?.[expiresAtKey];
  return optional({ expiresAt: typeof expiresAt === "string" ? expiresAt : undefined, _meta });
}
