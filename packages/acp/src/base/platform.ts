// Refuses platforms that are too old, with a sentence instead of a missing function.

/** Throws an Error on a platform without the functions that this library needs. */
export function checkPlatform(): void {
  if (typeof Promise.withResolvers === "function") return;
  const { process } = globalThis as { readonly process?: { readonly version?: string } }; // absent in browsers
  const got = process?.version === undefined ? "" : `; this is Node ${process.version}`;
  throw new Error(`@parley/acp needs Node 22.18 or newer, or a browser of 2024 or newer${got}`);
}
