// Writes docs/extensions.md from the comments of the one module with Parley's additions to the protocol.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const source = "packages/acp/src/base/parley-extensions.ts";
const comment = /\/\*\*\n((?: \*.*\n)+?) \*\/\nexport const \w+ = "(_parley\.dev\/\w+)";/g;
const facts = /^(In|A request|A notification)(?: (.+?))?, from (.+?) to (.+?), since ([\d.]+): (.+)\.$/;

/** The page. Throws when a name has no comment of this form. */
export function extensionsPage(root: string): string {
  const text = readFileSync(join(root, source), "utf8");
  const rows = [...text.matchAll(comment)].map(([, body = "", name = ""]) => rowOf(name, body));
  const declared = text.match(/^export const /gm)?.length;
  if (declared !== rows.length)
    throw new Error(`${source}: ${rows.length} of ${declared} names have their comment`);
  const table = (isMethod: boolean): string =>
    rows
      .filter((row) => row.isMethod === isMethod)
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ cells }) => `| ${cells.join(" | ")} |\n`)
      .join("");
  return `# Parley's additions to the protocol

<!-- Generated from ${source} by npm run generate. -->

ACP reserves names that begin with an underscore for additions. Parley uses the names below, and no others. Peers that do not
know them ignore them. \`@parley/acp/extensions\` exports them as constants.

Every name is spelled \`_parley.dev/NAME\`. Before 0.1.0 most keys of \`_meta\` were spelled without the underscore. That spelling is no
longer sent. It is read until version 2.0.

## Methods

| name | kind | from | to | since | params | meaning |
|---|---|---|---|---|---|---|
${table(true)}
## Keys of \`_meta\`, and names of entries

| name | where | from | to | since | value | meaning |
|---|---|---|---|---|---|---|
${table(false)}`;
}

function rowOf(name: string, body: string): { name: string; isMethod: boolean; cells: readonly string[] } {
  const lines = body.split("\n").map((line) => line.replace(/^ \* ?/, ""));
  const [meaning = "", form = ""] = lines.join("\n").trim().split("\n\n");
  const found = facts.exec(form.replaceAll("\n", " "));
  if (found === null)
    throw new Error(
      `${source}: the comment of ${name} must end with where, "from", "to", "since" and the value`,
    );
  const [, how = "", where = "", from = "", to = "", since = "", value = ""] = found;
  const isMethod = how !== "In";
  const place = isMethod ? how.replace("A ", "") : where;
  const cells = [`\`${name}\``, place, from, to, since, value, meaning.replaceAll("\n", " ")];
  return { name, isMethod, cells: cells.map((cell) => cell.replaceAll("|", "\\|")) };
}
