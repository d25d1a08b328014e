// All generated files, as text: the wire, the schema of the config file, and the page of the commands.

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { agentConfigShape } from "@parley/agent";
import { configSchema } from "@parley/client/config";
import { methodsModule } from "./methods.ts";
import { loadSchemas } from "./schema.ts";
import { shapesOf } from "./shapes.ts";
import { typesModule } from "./types.ts";
import { validatorsModule } from "./validators.ts";

const folder = "packages/acp/src/wire";

/** Paths from the root of the repository, with what belongs there. */
export function generatedFiles(): Map<string, string> {
  const files = new Map<string, string>();
  for (const version of ["v1", "v2"] as const) {
    const pair = loadSchemas(version);
    const definitions = shapesOf(pair);
    files.set(join(folder, version, "types.gen.ts"), typesModule(definitions));
    files.set(join(folder, version, "validators.gen.ts"), validatorsModule(definitions));
    files.set(join(folder, version, "methods.gen.ts"), methodsModule(pair, definitions));
  }
  files.set(
    "packages/cli/config.schema.json",
    `${JSON.stringify(configSchema(agentConfigShape), null, 2)}\n`,
  );
  files.set("docs/cli.md", cliPage());
  return files;
}

/** Only the command itself knows its tables: packages import one another by their doors, and it has none. */
function cliPage(): string {
  const main = join(import.meta.dirname, "../../packages/cli/src/main.ts");
  return execFileSync(process.execPath, ["--conditions=parley-source", main, "cli-page"], {
    encoding: "utf8",
  });
}

/** The files whose committed text differs; `committed` answers undefined for one that is not there. */
export function staleFiles(
  files: ReadonlyMap<string, string>,
  committed: (path: string) => string | undefined,
): string[] {
  return [...files].filter(([path, text]) => committed(path) !== text).map(([path]) => path);
}
