// The JSON Schema of the config file. Apart, because its declaration is published.

import { configShape } from "./config-shape.ts";

/**
 * Returns the JSON Schema of the config file, for editors.
 *
 * @param agent - The JSON Schema of the section `agent`.
 *
 * @example
 * import { agentConfigSchema } from "@parley/agent/config";
 * import { configSchema } from "@parley/client/config";
 *
 * console.log(JSON.stringify(configSchema(agentConfigSchema), null, 2));
 */
export function configSchema(agent: object): object {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Settings of Parley",
    ...configShape(agent),
  };
}
