// Reads variables of the environment.

export type { Environment } from "../network/proxy.ts";

/** Treats an empty variable as unset. */
export function filled(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === "" ? undefined : trimmed;
}
