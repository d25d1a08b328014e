// Derives a session title from the user's first words.

const maxLength = 60;

export function titleOf(text: string): string | undefined {
  const line = text
    .split("\n")
    .map((each) =>
      each
        .replaceAll(/[`*_#>]+/g, "")
        .replaceAll(/\s+/g, " ")
        .trim(),
    )
    .find((each) => each !== "");
  if (line === undefined) return undefined;
  if (line.length <= maxLength) return line;
  const cut = line.slice(0, maxLength);
  const end = cut.lastIndexOf(" ");
  return `${end > maxLength / 2 ? cut.slice(0, end) : cut}…`;
}
