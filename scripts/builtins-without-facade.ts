// A plugin for rolldown that takes what is used of Node's modules by name, because to import them as a whole is slow.

import { dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "rolldown";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * An import of `node:fs` makes Node build a module with every name of it, and to read `promises` loads
 * all of node:fs/promises: 4 ms and 3 MiB before an agent says a word. What we use is taken by name instead.
 */
export const builtinsWithoutFacade: Plugin = {
  name: "builtins-without-facade",
  resolveId(id, importer = "", { kind }) {
    if (!id.startsWith("node:")) return undefined;
    if (kind === "dynamic-import") return { id, external: true };
    // one for each importer: a shared one would load what any of them uses
    return `\0${id}?${relative(root, importer).replaceAll("\\", "/")}`;
  },
  async load(id) {
    if (!id.startsWith("\0node:")) return undefined;
    const [name = ""] = id.slice(1).split("?");
    // The names only: our own build script pays for the facade.
    const names = Object.keys((await import(name)) as object).filter((key) => key !== "default");
    if (slowBuiltins.has(name)) return lazyBuiltin(name);
    const lines = names.map((key) => `export const ${key} = builtin.${key};`);
    return [`const builtin = process.getBuiltinModule("${name}");`, "export default builtin;", ...lines].join(
      "\n",
    );
  },
};

/** They take 2 to 8 ms to load, which is much for who hashes nothing; what is not a function of theirs has no users here. */
const slowBuiltins = new Set(["node:crypto", "node:fs/promises", "node:zlib"]);

/** The same functions, which load the module when they are called. */
async function lazyBuiltin(name: string): Promise<string> {
  const all = (await import(name)) as Record<string, unknown>; // whatever it exports
  const functions = Object.keys(all).filter((key) => key !== "default" && typeof all[key] === "function");
  const lines = functions.map(
    (key) =>
      `export function ${key}(...args) { const { ${key}: own } = process.getBuiltinModule("${name}"); return new.target ? new own(...args) : own(...args); }`,
  );
  return lines.join("\n");
}
