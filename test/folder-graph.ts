// Finds the folders of each package and the imports between them.

import { importsOf, isTest, read, repositoryFiles } from "./source-files.ts";

/** The folders of one package's `src`, and for each the folders that its files import. */
export interface FolderGraph {
  readonly packageName: string;
  readonly folders: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The name of the folder that holds a package's entry points. */
export const entryFolder = "src";

const sources = repositoryFiles().filter(
  (file) => /^packages\/[^/]+\/src\/.*\.(?:ts|tsx)$/.test(file) && !isTest(file),
);

export const packageNames: readonly string[] = [
  ...new Set(sources.map((file) => file.split("/")[1] ?? "")),
].sort();

export function sourcesOf(packageName: string): string[] {
  return sources.filter((file) => file.startsWith(`packages/${packageName}/src/`));
}

/** The folder of a source file, from `src`: `peer/agent`, or `src` for an entry point. */
export function folderOf(file: string): string {
  const path = file.split("/").slice(3, -1).join("/");
  return path === "" ? entryFolder : path;
}

/** The lines of a package's `src` without tests: written by hand, and generated. */
export function linesOf(packageName: string): { readonly written: number; readonly generated: number } {
  const lines = { written: 0, generated: 0 };
  for (const file of sourcesOf(packageName))
    lines[file.endsWith(".gen.ts") ? "generated" : "written"] += read(file).split("\n").length - 1;
  return lines;
}

export function folderGraph(packageName: string): FolderGraph {
  const folders = new Map<string, Set<string>>();
  for (const file of sourcesOf(packageName)) {
    const from = folderOf(file);
    const imported = folders.get(from) ?? new Set();
    folders.set(from, imported);
    for (const { target } of importsOf(file)) {
      if (target === undefined || !target.startsWith(`packages/${packageName}/src/`)) continue;
      const to = folderOf(target);
      if (to !== from) imported.add(to);
    }
  }
  return { packageName, folders };
}

/** One cycle between folders, as the path from a folder back to itself. */
export function findCycle({ folders }: Pick<FolderGraph, "folders">): readonly string[] | undefined {
  const finished = new Set<string>();
  const visit = (folder: string, path: readonly string[]): readonly string[] | undefined => {
    const seenAt = path.indexOf(folder);
    if (seenAt >= 0) return [...path.slice(seenAt), folder];
    if (finished.has(folder)) return undefined;
    for (const next of folders.get(folder) ?? []) {
      const cycle = visit(next, [...path, folder]);
      if (cycle !== undefined) return cycle;
    }
    finished.add(folder);
    return undefined;
  };
  for (const folder of folders.keys()) {
    const cycle = visit(folder, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

/** The arrows that no other path implies: A -> C goes when A -> B -> C is there. */
export function essentialArrows({ folders }: FolderGraph): [from: string, to: string][] {
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const to of folders.get(from) ?? []) {
      if (seen.has(to)) continue;
      seen.add(to);
      reach(to, seen);
    }
    return seen;
  };
  return [...folders].sort().flatMap(([from, targets]) =>
    [...targets]
      .sort()
      .filter((to) => ![...targets].some((other) => other !== to && reach(other).has(to)))
      .map((to): [string, string] => [from, to]),
  );
}

/** The graph in Mermaid's language, without the folder of entry points, which may import all others. */
export function mermaid(graph: FolderGraph): string {
  const folders = new Map([...graph.folders].filter(([folder]) => folder !== entryFolder));
  const arrows = essentialArrows({ ...graph, folders });
  const drawn = new Set(arrows.flat());
  const alone = [...folders.keys()].filter((folder) => !drawn.has(folder)).sort();
  const name = (folder: string) => `${folder.replaceAll(/[^a-z0-9]/g, "_")}["${folder}"]`;
  return [
    "graph TD",
    ...alone.map((folder) => `  ${name(folder)}`),
    ...arrows.map(([from, to]) => `  ${name(from)} --> ${name(to)}`),
  ].join("\n");
}
