// Checks the names of methods outside the protocol. A file of its own, since raw peers load nothing of the model.

/** Checks what the type says, for callers without types. */
export function extensionName(method: string): string {
  if (typeof method === "string" && method.startsWith("_")) return method;
  throw new TypeError(
    `got ${JSON.stringify(method)}, a method outside the protocol has a name that begins with "_"`,
  );
}
