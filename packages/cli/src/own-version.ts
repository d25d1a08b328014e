// The version of this installation.

import { readFile } from "node:fs/promises";

export async function ownVersion(): Promise<string> {
  // The manifest is one folder up from src/ and from dist/ alike.
  const manifest: unknown = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
  return String((manifest as { version?: unknown }).version); // our own file
}
