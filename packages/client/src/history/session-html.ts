// Renders the Markdown of a session as a page that needs nothing else. It knows only what session-markdown.ts writes; all
// text is escaped, and there are no scripts, images or links.

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin-top: 2rem; border-top: 1px solid #8886; padding-top: 1rem; }
blockquote, pre { margin: 0.5rem 0; white-space: pre-wrap; }
blockquote { border-left: 3px solid #888; padding-left: 0.8rem; }
pre { background: #8882; padding: 0.6rem; border-radius: 4px; font-size: 0.85rem; }
ins { color: light-dark(#116329, #7ee787); text-decoration: none; }
del { color: light-dark(#a40e26, #ff7b72); text-decoration: none; }
`;

/** `markdown` is what `sessionMarkdown` gives. */
export function sessionHtml(markdown: string): string {
  const lines = markdown.split("\n");
  const title = (lines[0] ?? "").replace(/^# /, "").replaceAll("\\<", "<");
  const body: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const { html, next } = blockAt(lines, at);
    if (html !== "") body.push(html);
    at = next;
  }
  return [
    "<!doctype html>",
    '<html lang="en">',
    '<meta charset="utf-8">',
    // nothing is loaded and nothing runs, whatever this page holds
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    '<meta name="viewport" content="width=device-width">',
    `<title>${escaped(title)}</title>`,
    `<style>${style}</style>`,
    ...body,
    "</html>",
    "",
  ].join("\n");
}

function blockAt(lines: readonly string[], at: number): { readonly html: string; readonly next: number } {
  const line = lines[at] ?? "";
  const [, fence, language] = /^(`{3,})(.*)$/.exec(line) ?? [];
  if (fence !== undefined) {
    const end = lines.indexOf(fence, at + 1);
    const next = end < 0 ? lines.length : end;
    const inside = lines.slice(at + 1, next);
    const shown = inside.map(language === "diff" ? diffLine : escaped);
    return { html: `<pre>${shown.join("\n")}</pre>`, next: next + 1 };
  }
  if (line.startsWith(">")) {
    const next = endOf(lines, at, (each) => each.startsWith(">"));
    const quoted = lines.slice(at, next).map((each) => escaped(each.replace(/^> ?/, "")));
    return { html: `<blockquote>${quoted.join("\n")}</blockquote>`, next };
  }
  if (line.startsWith("- ")) {
    const next = endOf(lines, at, (each) => each.startsWith("- "));
    const items = lines.slice(at, next).map((each) => `<li>${words(each.slice(2))}</li>`);
    return { html: `<ul>${items.join("")}</ul>`, next };
  }
  const [, marks, heading] = /^(#{1,2}) (.*)$/.exec(line) ?? [];
  if (marks !== undefined)
    return { html: `<h${marks.length}>${words(heading ?? "")}</h${marks.length}>`, next: at + 1 };
  return { html: line === "" ? "" : `<p>${words(line)}</p>`, next: at + 1 };
}

function endOf(lines: readonly string[], from: number, isInside: (line: string) => boolean): number {
  const end = lines.findIndex((line, at) => at > from && !isInside(line));
  return end < 0 ? lines.length : end;
}

function diffLine(line: string): string {
  if (/^\+(?!\+\+)/.test(line)) return `<ins>${escaped(line)}</ins>`;
  return /^-(?!--)/.test(line) ? `<del>${escaped(line)}</del>` : escaped(line);
}

/** A line of ours: what it marks at its beginning, and paths. */
function words(line: string): string {
  return escaped(line.replaceAll("\\<", "<"))
    .replace(/^\*\*(.+?)\*\*/, "<strong>$1</strong>")
    .replace(/^\*(.+?)\*/, "<em>$1</em>")
    .replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}
