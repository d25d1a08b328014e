// The formats of an exported session, and the one that the name of a file asks for.

import { extname } from "node:path";
import type { ExportOptions } from "@parley/client/history";

type ExportFormat = ExportOptions["format"];

export const exportFormats = ["markdown", "html", "json"] as const satisfies readonly ExportFormat[];

const endings: Readonly<Record<string, ExportFormat>> = { ".json": "json", ".html": "html", ".htm": "html" };

/** Markdown for every ending that is not known. */
export function formatOf(file: string): ExportFormat {
  return endings[extname(file).toLowerCase()] ?? "markdown";
}
