// The secrets that this machine is known to have: whatever is shared or shown after a failure must not hold them.

import { readFile } from "node:fs/promises";
import { credentialsPath } from "./data-folder.ts";

/** Values of variables whose names say that they are secret, and stored keys. */
export async function knownSecrets(): Promise<string[]> {
  return [...secretVariables(process.env), ...(await storedKeys())];
}

/** Variables whose names say that nobody else should read them. */
function secretVariables(environment: NodeJS.ProcessEnv): string[] {
  return Object.entries(environment).flatMap(([name, value = ""]) =>
    /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i.test(name) && value.length >= 8 ? [value] : [],
  );
}

async function storedKeys(): Promise<string[]> {
  try {
    const found: string[] = [];
    // whatever its shape: every long string in it may be a key
    JSON.parse(await readFile(credentialsPath(), "utf8"), (_, value: unknown) => {
      if (typeof value === "string" && value.length >= 8) found.push(value);
      return value;
    });
    return found;
  } catch {
    // nobody has logged in
    return [];
  }
}
