// The registry in the package: facts as published in summer and autumn 2026. What is not known is left out.

import models from "./models.json" with { type: "json" };
import { decodeRegistry, type Registry } from "./registry.ts";

/** The facts about models that the package has. */
export const builtInRegistry: Registry = decodeRegistry(models);
