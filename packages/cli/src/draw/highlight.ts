// Colours source code by its syntax. Until the grammars are loaded, code has no colours.

import type { createLowlight } from "lowlight";
import type { Paint, Role } from "../terminal/paint.ts";

type Lowlight = ReturnType<typeof createLowlight>;
type Tree = ReturnType<Lowlight["highlight"]>;
type Node = Tree["children"][number];

let grammars: Lowlight | undefined;
let loading: Promise<void> | undefined;

/** Loads the grammars, which takes some 50 ms. */
export function loadHighlighting(): Promise<void> {
  loading ??= import("lowlight").then(({ common, createLowlight: create }) => {
    grammars = create(common);
  });
  return loading;
}

/** Longer code would make the screen wait. */
const mostCode = 50_000;

/** One string per line, with the same text. */
export function highlighted(code: string, language: string | undefined, paint: Paint): string[] {
  const name = language?.toLowerCase() ?? "";
  if (grammars === undefined || code.length > mostCode || !grammars.registered(name)) return code.split("\n");
  const lines = [""];
  addLines(grammars.highlight(name, code).children, undefined, paint, lines);
  return lines;
}

/** The language of a file, by the end of its name. */
export function languageOf(path: string): string | undefined {
  const [, ending] = /\.([^./\\]+)$/.exec(path) ?? [];
  return ending;
}

function addLines(nodes: readonly Node[], role: Role | undefined, paint: Paint, lines: string[]): void {
  for (const node of nodes) {
    if (node.type === "element")
      addLines(node.children, roleOf(node.properties.className) ?? role, paint, lines);
    if (node.type !== "text") continue;
    for (const [at, part] of node.value.split("\n").entries()) {
      const shown = role === undefined || part === "" ? part : paint(role, part);
      if (at > 0) lines.push(shown);
      else lines.push(`${lines.pop() ?? ""}${shown}`);
    }
  }
}

const roles: Readonly<Record<string, Role>> = {
  keyword: "keyword",
  built_in: "keyword",
  literal: "keyword",
  string: "string",
  regexp: "string",
  number: "number",
  comment: "comment",
  doctag: "comment",
  title: "name",
  attr: "name",
  type: "name",
  tag: "keyword",
  name: "name",
  section: "heading",
  addition: "added",
  deletion: "removed",
};

function roleOf(classes: unknown): Role | undefined {
  if (!Array.isArray(classes)) return undefined;
  const [, first = ""] = /^hljs-(.+)$/.exec(String(classes[0])) ?? [];
  return roles[first];
}
