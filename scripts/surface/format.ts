// Formats declarations as the sources are formatted.

import { execFileSync } from "node:child_process";
import { join } from "node:path";

const separator = "// next declaration\n";

/** All at once, since the formatter takes longer to start than to work. Line breaks are the formatter's choice. */
export function formatted(root: string, declarations: readonly string[]): string[] {
  const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
  const text = execFileSync(process.execPath, [biome, "format", "--stdin-file-path=surface.d.ts"], {
    cwd: root,
    input: declarations.map((text) => text.replaceAll(/\s*\n\s*/g, " ")).join(`\n${separator}`),
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  return text.split(separator).map((part) => part.trim());
}
