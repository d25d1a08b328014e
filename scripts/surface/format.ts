// Formats declarations as the sources are formatted.

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { type Declaration, isWire, ownNames, type PublicApi } from "./public-api.ts";

const separator = "// next declaration\n";

/** The formatted text of every declaration that is shown, types that are shown where they are mentioned included. */
export function formattedTexts(api: PublicApi, root: string): (declaration: Declaration) => string {
  const own = api.entries.flatMap((entry) =>
    ownNames(api, entry).map(({ symbol }) => api.declaration(symbol)),
  );
  const shown = own.filter((declaration) => !isWire(declaration));
  const mentioned = shown
    .flatMap(({ mentions }) => mentions)
    .filter((symbol) => api.home(symbol) === undefined);
  const all = [...new Set([...shown, ...mentioned.map(api.declaration).filter(({ doc }) => doc.inline)])];
  const texts = formatted(
    all.map(({ text }) => text),
    root,
  );
  const byDeclaration = new Map(all.map((declaration, at) => [declaration, texts[at] ?? ""]));
  return (declaration) => byDeclaration.get(declaration) ?? declaration.text;
}

/** All at once, since the formatter takes longer to start than to work. Line breaks are the formatter's choice. */
function formatted(declarations: readonly string[], root: string): string[] {
  const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
  const text = execFileSync(process.execPath, [biome, "format", "--stdin-file-path=surface.d.ts"], {
    cwd: root,
    input: declarations.map((each) => each.replaceAll(/\s*\n\s*/g, " ")).join(`\n${separator}`),
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  return text.split(separator).map((part) => part.trim());
}
