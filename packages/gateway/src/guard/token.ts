// Makes and compares tokens.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** 256 random bits, for headers and subprotocols. */
export function randomToken(): string {
  return randomBytes(32).toString("base64url");
}

/** Tells whether a text is the token. Only a digest is kept, and it takes the same time for each text. */
export function tokenCheck(token: string): (given: string) => boolean {
  const wanted = digestOf(token);
  return (given) => timingSafeEqual(digestOf(given), wanted);
}

export function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Why a text cannot be a token, or undefined. It is never quoted. */
export function tokenProblem(token: string): string | undefined {
  if (token.length < 32) return `a token must have at least 32 characters, got ${token.length}`;
  // what both a header and a subprotocol can carry
  if (!/^[\w.~+/=-]+$/.test(token)) return "a token must consist of letters, digits and . _ ~ + / = -";
  return undefined;
}
