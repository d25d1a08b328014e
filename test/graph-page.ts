// Places the drawn folder graphs between their marks in ARCHITECTURE.md.

import { type FolderGraph, mermaid } from "./folder-graph.ts";

/** The page with the graph of each package between `<!-- graph: NAME -->` and `<!-- end -->`. */
export function withGraphs(page: string, graphs: readonly FolderGraph[]): string {
  return graphs.reduce((text, graph) => {
    const start = `<!-- graph: ${graph.packageName} -->\n`;
    const at = text.indexOf(start);
    const end = text.indexOf("<!-- end -->", at);
    if (at < 0 || end < 0)
      throw new Error(
        `ARCHITECTURE.md has no graph of packages/${graph.packageName}; add the lines "${start.trim()}" and "<!-- end -->"`,
      );
    return `${text.slice(0, at)}${start}\`\`\`mermaid\n${mermaid(graph)}\n\`\`\`\n${text.slice(end)}`;
  }, page);
}
