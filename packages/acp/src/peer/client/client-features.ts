// Derives the capabilities of a client from its definition.

import type { ClientFeatures } from "../../edition/agent-ops.ts";
import type { ClientDefinition } from "./client-definition.ts";

export function offeredFeatures(definition: ClientDefinition): ClientFeatures {
  const { files, terminals, elicit, elicitationModes = ["form", "url"], terminalAuth = false } = definition;
  // files that are made per session are taken to be readable and writable
  const fixed = typeof files === "object" ? files : undefined;
  return {
    readFiles: files !== undefined && (fixed?.canRead ?? true),
    writeFiles: files !== undefined && (fixed?.canWrite ?? true),
    terminals: terminals !== undefined,
    terminalAuth,
    elicitationForm: elicit !== undefined && elicitationModes.includes("form"),
    elicitationUrl: elicit !== undefined && elicitationModes.includes("url"),
    booleanOptions: true,
    notices: true,
    compaction: true,
  };
}
