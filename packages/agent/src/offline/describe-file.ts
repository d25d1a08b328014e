// Describes a file without a model: its kind, size, first comment and declarations.

interface Kind {
  readonly name: string;
  /** Each pattern finds a declared name. */
  readonly declarations: readonly RegExp[];
}

const script: readonly RegExp[] = [
  /^\s*export\s+(?:default\s+)?(?:async\s+)?(?:abstract\s+)?(function\*?|class|interface|type|const|let|enum)\s+([\w$]+)/,
  /^(?:async\s+)?(function\*?|class)\s+([\w$]+)/,
];

const kinds: Readonly<Record<string, Kind>> = {
  ts: { name: "TypeScript", declarations: script },
  tsx: { name: "TypeScript with JSX", declarations: script },
  js: { name: "JavaScript", declarations: script },
  mjs: { name: "JavaScript", declarations: script },
  jsx: { name: "JavaScript with JSX", declarations: script },
  py: { name: "Python", declarations: [/^(?:async\s+)?(def|class)\s+(\w+)/] },
  go: { name: "Go", declarations: [/^(func|type|var|const)\s+(?:\([^)]*\)\s*)?(\w+)/] },
  rs: {
    name: "Rust",
    declarations: [/^\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?(fn|struct|enum|trait|mod|impl)\s+(\w+)/],
  },
  java: {
    name: "Java",
    declarations: [/^\s*(?:public\s+|abstract\s+|final\s+)*(class|interface|enum|record)\s+(\w+)/],
  },
  c: { name: "C", declarations: [/^(struct|enum|union)\s+(\w+)/] },
  rb: { name: "Ruby", declarations: [/^\s*(def|class|module)\s+([\w.?!]+)/] },
  sh: { name: "a shell script", declarations: [/^(function)?\s*([\w-]+)\s*\(\)\s*\{/] },
  md: { name: "Markdown", declarations: [/^(#{1,3})\s+(.+)$/] },
  css: { name: "CSS", declarations: [] },
  html: { name: "HTML", declarations: [] },
  json: { name: "JSON", declarations: [] },
  yml: { name: "YAML", declarations: [] },
  yaml: { name: "YAML", declarations: [] },
  toml: { name: "TOML", declarations: [/^(\[+)([^\]]+)\]/] },
};

const maxListed = 25;

export function describeFile(path: string, text: string): string {
  const lines = text.replace(/\n$/, "").split("\n");
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  const kind = kinds[extension];
  const head = `\`${path}\` is ${kind?.name ?? "text"}, ${count(lines.length, "line")}.`;
  const about = firstWords(lines);
  const found = lines.flatMap((line, i) => declared(line, i + 1, kind));
  const parts = [about === "" ? head : `${head} It begins with: ${about}`];
  if (extension === "json") parts.push(...jsonFacts(text));
  if (found.length > 0) {
    parts.push("", extension === "md" ? "Sections:" : "It declares:", ...found.slice(0, maxListed));
    if (found.length > maxListed) parts.push(`- and ${found.length - maxListed} more`);
  }
  return parts.join("\n");
}

function declared(line: string, number: number, kind: Kind | undefined): string[] {
  for (const pattern of kind?.declarations ?? []) {
    const [, what = "", name] = pattern.exec(line) ?? [];
    if (name !== undefined)
      return [/^\w/.test(what) ? `- ${what} \`${name}\` (line ${number})` : `- ${name} (line ${number})`];
  }
  return [];
}

/** The first comment or the first paragraph. */
function firstWords(lines: readonly string[]): string {
  const words: string[] = [];
  for (const line of lines.slice(0, 20)) {
    const comment = /^\s*(?:\/\/+|#(?!!)+|\/\*\*?|\*|--|"""|<!--)\s*(.*?)\s*(?:\*\/|-->|""")?$/.exec(
      line,
    )?.[1];
    if (comment === undefined && words.length > 0) break;
    if (comment !== undefined && comment !== "") words.push(comment);
    if (words.length === 3) break;
  }
  return words.join(" ").slice(0, 300);
}

function jsonFacts(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return [`It is a list of ${count(value.length, "item")}.`];
    if (typeof value !== "object" || value === null) return [];
    return [`Its keys: ${Object.keys(value).slice(0, maxListed).join(", ")}.`];
  } catch {
    return ["It is not valid JSON."];
  }
}

export function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}
