// All generated files, as text: the wire, the model, the schema of the config file, and the page of the commands.

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { agentConfigSchema } from "@parley/agent/config";
import { configSchema } from "@parley/client/config";
import { extensionsPage } from "./extensions.ts";
import { featuresModule } from "./feature-places.ts";
import { methodFactsModule } from "./method-facts.ts";
import { methodsModule } from "./methods.ts";
import { modelModules } from "./model.ts";
import { dialects, isDialect, loadDialect, loadSchemas, sourceOf } from "./schema.ts";
import { type Definition, shapesOf } from "./shapes.ts";
import { typesModule } from "./types.ts";
import { v2Basis } from "./v2-basis.ts";
import { sharingModules, type ValidatorOptions, validatorsModule } from "./validators.ts";
import { wireEntries } from "./wire-entries.ts";

const folder = "packages/acp/src";

/** Where the wire goes, and where it finds what validators and types share. */
const places = {
  version: {
    wire: `${folder}/wire`,
    runtime: "../../validation/failure.ts",
    basics: "../../validation/unknown-tag.ts",
  },
  dialect: {
    wire: "packages/dialects/src/wire",
    runtime: "../../exchange/library.ts",
    basics: "@parley/acp/v1",
  },
} as const;

/** The facts of v2 that the model was last derived from. */
export const basisFile = "scripts/generate/v2-basis.json";

/** Paths from the root of the repository, with what belongs there. */
export function generatedFiles(): Map<string, string> {
  const files = new Map<string, string>();
  const pairs = [loadSchemas("v1"), loadSchemas("v2"), ...dialects.map(loadDialect)];
  const v2 = loadSchemas("v2");
  const model = modelModules(v2);
  const sharing = new Map<string, [ReadonlyMap<string, Definition>, ValidatorOptions, shared: string]>();
  for (const pair of pairs) {
    const { version } = pair;
    const source = sourceOf(version);
    const definitions = shapesOf(pair);
    const { wire, runtime, basics } = places[isDialect(version) ? "dialect" : "version"];
    const types = typesModule(definitions, { source, imports: { [basics]: ["Meta", "UnknownTag"] } });
    const validators = join(wire, version, "validators.gen.ts");
    files.set(join(wire, version, "types.gen.ts"), types);
    if (isDialect(version)) files.set(validators, validatorsModule(definitions, { source, runtime }));
    else sharing.set(validators, [definitions, { source, runtime }, "../../validation/shapes.gen.ts"]);
    files.set(join(wire, version, "methods.gen.ts"), methodsModule(pair, definitions));
  }
  for (const [name, text] of wireEntries()) files.set(join(folder, name), text);
  files.set(join(folder, "validation", "features.gen.ts"), featuresModule());
  files.set(join(folder, "wire", "methods.gen.ts"), methodFactsModule([loadSchemas("v1"), v2]));
  files.set(join(folder, "model", "types.gen.ts"), model.types);
  const place = join(folder, "model", "validators.gen.ts");
  sharing.set(place, [model.definitions, model.validators, "../validation/shapes.gen.ts"]);
  const { texts, shared } = sharingModules([...sharing.values()]);
  for (const [at, path] of [...sharing.keys()].entries()) files.set(path, texts[at] ?? "");
  files.set(join(folder, "validation", "shapes.gen.ts"), shared);
  files.set(basisFile, `${JSON.stringify(v2Basis(v2), null, 2)}\n`);
  files.set(
    "packages/cli/config.schema.json",
    `${JSON.stringify(configSchema(agentConfigSchema), null, 2)}\n`,
  );
  files.set("docs/cli.md", printedPage("cli-page"));
  files.set("docs/chat-keys.md", printedPage("chat-keys-page"));
  files.set("docs/extensions.md", extensionsPage(join(import.meta.dirname, "../..")));
  return files;
}

/** Only the command itself knows its tables: packages import one another by their doors, and it has none. */
function printedPage(command: string): string {
  const main = join(import.meta.dirname, "../../packages/cli/src/main.ts");
  return execFileSync(process.execPath, ["--conditions=parley-source", main, command], {
    encoding: "utf8",
  });
}
