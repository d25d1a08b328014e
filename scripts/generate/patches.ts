// Lists the definitions in which null clears a value. Everywhere else it means the same as nothing.

import type { Definitions, SchemaPair, Version } from "./schema.ts";

/** Whole definitions, and single fields as `UsageUpdate.cost`. */
const patches: Readonly<Record<Version, readonly string[]>> = {
  // in a tool call of v1 null means: no change
  v1: ["CompactionUpdate", "SessionInfoUpdate", "SessionMessage", "SubagentUpdate"],
  v2: [
    "AgentMessage",
    "AgentThought",
    "CompactionUpdate",
    "SessionInfoUpdate",
    "SessionMessage",
    "SubagentUpdate",
    "TerminalUpdate",
    "ToolCallUpdate",
    "UsageUpdate.cost",
    "UserMessage",
  ],
};

/** Tells whether null clears a field. Throws where the list names what the schema does not have. */
export function patchesFor(
  version: SchemaPair["version"],
  definitions: Definitions,
): (definition: string, field: string) => boolean {
  const listed = new Set(version === "v1" || version === "v2" ? patches[version] : []);
  for (const place of listed) {
    const [definition = "", field] = place.split(".");
    const properties = definitions[definition]?.properties;
    if (properties === undefined || (field !== undefined && !(field in properties)))
      throw new Error(`${version} ${place}: patches.ts lists it, but the schema does not have it`);
  }
  return (definition, field) => listed.has(definition) || listed.has(`${definition}.${field}`);
}
