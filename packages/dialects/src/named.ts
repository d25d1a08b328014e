// The editions by the names that command lines and config files have for them.

import type { Edition } from "@parley/acp";
import type { Dialect } from "@parley/acp/transport";
import { pharo } from "./pharo.ts";
import { scoped } from "./scoped.ts";

/** The names of the editions that Parley speaks: the versions of the protocol, and the dialects of this package. */
export const editionNames = ["v2", "v1", "pharo", "scoped"] as const;

/** The name of an edition that Parley speaks. */
export type NamedEdition = (typeof editionNames)[number];

/**
 * Finds an edition by its name, for programs that read it from a command line or a config file.
 *
 * @param name "v1", "v2", or the name of a dialect of this package.
 * @returns What goes into the `editions` of an agent or a client.
 * @example
 * import { client } from "@parley/acp";
 * import { spawnTransport } from "@parley/acp/node";
 * import { editionNamed } from "@parley/dialects";
 *
 * const app = client({ name: "my-client", version: "1.0.0", editions: [editionNamed("scoped")] });
 * await using connection = await app.connect(spawnTransport("my-agent"));
 * console.log(connection.edition);
 */
export function editionNamed(name: NamedEdition): Edition | Dialect {
  if (name === "pharo") return pharo();
  return name === "scoped" ? scoped() : name;
}
