// What a client says that it offers, from what its definition has.

import type { ClientFeatures } from "../../edition/agent-ops.ts";
import type { ClientDefinition } from "./client-definition.ts";

export function offeredFeatures(definition: ClientDefinition): ClientFeatures {
  const { files, terminals, elicit, elicitationModes = ["form", "url"], terminalLogin } = definition;
  // files that are made per session are taken to be readable and writable
  const fixed = typeof files === "object" ? files : undefined;
  return {
    readFiles: files !== undefined && (fixed?.canRead ?? true),
    writeFiles: files !== undefined && (fixed?.canWrite ?? true),
    terminals: terminals !== undefined,
    terminalAuth: terminalLogin !== undefined,
    elicitationForm: elicit !== undefined && elicitationModes.includes("form"),
    elicitationUrl: elicit !== undefined && elicitationModes.includes("url"),
    booleanOptions: true,
    notices: true,
    compaction: true,
  };
}
