// Recognises the answer of a server that does not let a client in.

/** Whether the token is missing or wrong. */
export function isRefusal(status: unknown): boolean {
  return status === 401 || status === 403;
}

/** The same for the error of a WebSocket, or of the function that opens one: by its status, or the words of the package `ws`. */
export function isRefusedSocket(error: unknown): boolean {
  const { status, message, cause } = (error ?? {}) as Readonly<Record<string, unknown>>; // every value is checked
  if (isRefusal(status) || isRefusal((cause as { readonly status?: unknown } | undefined)?.status))
    return true;
  return typeof message === "string" && /^Unexpected server response: 40[13]$/.test(message);
}
