// What to do about a certificate that is not accepted.

const plainHint = "the server does not speak TLS at this port: try http:// or ws://, or check the port";
const hints: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "the certificate of the server has expired: ask whoever runs it for a new one",
  CERT_NOT_YET_VALID: "the certificate of the server is not valid yet: check the clock of this machine",
  ERR_TLS_CERT_ALTNAME_INVALID:
    "the certificate of the server is for another name: use the name that it was made for",
  ERR_SSL_WRONG_VERSION_NUMBER: plainHint,
};
const untrusted: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** For the error of a connection, or one that it caused; undefined when it is not about TLS. */
export function tlsHint(error: unknown): string | undefined {
  const seen = new Set<unknown>();
  for (let at = error; typeof at === "object" && at !== null && !seen.has(at); ) {
    seen.add(at);
    const { code, cause, message } = at as Readonly<Record<"code" | "cause" | "message", unknown>>;
    if (typeof code === "string") {
      if (untrusted.has(code))
        return "this machine does not trust the certificate of the server: if you do, set NODE_EXTRA_CA_CERTS to a PEM file with it, or with that of its authority";
      if (hints[code] !== undefined) return hints[code];
      // what Node says when a server without TLS hangs up
      if (code === "ECONNRESET" && /secure TLS connection/.test(String(message))) return plainHint;
    }
    at = cause;
  }
  return undefined;
}
