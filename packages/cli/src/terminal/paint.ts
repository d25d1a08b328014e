// Colours text for terminals.

const codes = {
  dim: "\u001b[2m",
  bold: "\u001b[1m",
  red: "\u001b[31m",
  green: "\u001b[32m",
  yellow: "\u001b[33m",
  cyan: "\u001b[36m",
} as const;

export type Colour = keyof typeof codes;
export type Paint = (colour: Colour, text: string) => string;

/** Respects FORCE_COLOR, NO_COLOR and TERM=dumb. */
export function painter(isTerminal: boolean, environment: NodeJS.ProcessEnv = process.env): Paint {
  const { NO_COLOR: none, FORCE_COLOR: forced, TERM: kind } = environment;
  const isColoured =
    forced !== undefined && forced !== "" && forced !== "0"
      ? true
      : isTerminal && kind !== "dumb" && (none === undefined || none === "");
  return isColoured ? (colour, text) => `${codes[colour]}${text}\u001b[0m` : (_, text) => text;
}
