// Keys as users call them.

const names: Readonly<Record<string, string>> = {
  escape: "Esc",
  enter: "Enter",
  pageUp: "PgUp",
  pageDown: "PgDn",
};

/** `ctrl+c` as Ctrl-C, `alt+up` as Alt-Up. */
export function keyName(id: string): string {
  if (id.includes(" ")) return id.split(" ").map(keyName).join(" ");
  const parts = id
    .split("+")
    .map((part) => names[part] ?? `${part.slice(0, 1).toUpperCase()}${part.slice(1)}`);
  return parts.join("-");
}
