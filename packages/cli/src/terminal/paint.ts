// Themes: text is painted by its role, and a theme says what the role looks like.

/** What a text is. */
export type Role =
  | "dim"
  | "strong"
  | "heading"
  | "error"
  | "warning"
  | "success"
  | "user"
  | "accent"
  | "link"
  | "code"
  | "added"
  | "removed"
  | "addedWord"
  | "removedWord"
  | "addedLine"
  | "removedLine"
  | "keyword"
  | "string"
  | "number"
  | "comment"
  | "name";

export type Paint = (role: Role, text: string) => string;

/** SGR parameters, by role. */
type Styles = Readonly<Record<Role, string>>;

/** The colours of the terminal's own palette, which suit its background. */
const terminal: Styles = {
  dim: "2",
  strong: "1",
  heading: "1;36",
  error: "31",
  warning: "33",
  success: "32",
  user: "36",
  accent: "36",
  link: "4;34",
  code: "36",
  added: "32",
  removed: "31",
  addedWord: "48;5;28",
  removedWord: "48;5;88",
  addedLine: "48;5;22",
  removedLine: "48;5;52",
  keyword: "35",
  string: "32",
  number: "33",
  comment: "2",
  name: "34",
};

const dark: Styles = {
  ...terminal,
  dim: "38;5;245",
  heading: "1;38;5;117",
  error: "38;5;210",
  warning: "38;5;221",
  success: "38;5;114",
  user: "38;5;117",
  accent: "38;5;117",
  link: "4;38;5;111",
  code: "38;5;180",
  added: "38;5;114",
  removed: "38;5;210",
  keyword: "38;5;176",
  string: "38;5;150",
  number: "38;5;215",
  comment: "38;5;245",
  name: "38;5;111",
};

const light: Styles = {
  ...terminal,
  dim: "38;5;243",
  heading: "1;38;5;25",
  error: "38;5;160",
  warning: "38;5;130",
  success: "38;5;28",
  user: "38;5;25",
  accent: "38;5;25",
  link: "4;38;5;26",
  code: "38;5;94",
  added: "38;5;28",
  removed: "38;5;160",
  addedWord: "48;5;157",
  removedWord: "48;5;217",
  addedLine: "48;5;194",
  removedLine: "48;5;224",
  keyword: "38;5;90",
  string: "38;5;28",
  number: "38;5;130",
  comment: "38;5;243",
  name: "38;5;25",
};

/** Blue and orange are told apart with every kind of colour vision. */
const colourBlind: Styles = {
  ...terminal,
  error: "38;5;208",
  warning: "33",
  success: "38;5;39",
  added: "38;5;39",
  removed: "38;5;208",
  addedWord: "48;5;25",
  removedWord: "48;5;94",
  addedLine: "48;5;17",
  removedLine: "48;5;58",
  string: "38;5;39",
};

/** Weight instead of colour. */
const mono: Styles = {
  dim: "2",
  strong: "1",
  heading: "1;4",
  error: "1",
  warning: "1",
  success: "",
  user: "1",
  accent: "1",
  link: "4",
  code: "",
  added: "1",
  removed: "2",
  addedWord: "4",
  removedWord: "4",
  addedLine: "1",
  removedLine: "2",
  keyword: "1",
  string: "",
  number: "",
  comment: "2",
  name: "",
};

/** Fainter than the palette has them, for a terminal with all colours. */
const fine: Partial<Styles> = {
  addedWord: "48;2;32;92;52",
  removedWord: "48;2;118;40;46",
  addedLine: "48;2;16;46;28",
  removedLine: "48;2;62;24;28",
};

/** The same on a light background, which a terminal may tell in COLORFGBG. */
const onLight: Partial<Styles> = {
  addedWord: light.addedWord,
  removedWord: light.removedWord,
  addedLine: light.addedLine,
  removedLine: light.removedLine,
};

const themes = { terminal, dark, light, "colour-blind": colourBlind, mono } as const;

export type ThemeName = keyof typeof themes;

/** All of them, the default first. */
export const themeNames = Object.keys(themes) as ThemeName[]; // it has no other keys

/** Without a theme: that of the terminal. Respects FORCE_COLOR, NO_COLOR and TERM=dumb. */
export function painter(
  isTerminal: boolean,
  environment: NodeJS.ProcessEnv = process.env,
  name: ThemeName = "terminal",
): Paint {
  const { NO_COLOR: none, FORCE_COLOR: forced, TERM: kind } = environment;
  const isColoured =
    forced !== undefined && forced !== "" && forced !== "0"
      ? true
      : isTerminal && kind !== "dumb" && (none === undefined || none === "");
  if (!isColoured) return (_, text) => text;
  const styles = { ...themes[name], ...grounds(name, environment) };
  return (role, text) => (styles[role] === "" ? text : `\u001b[${styles[role]}m${text}\u001b[0m`);
}

/** The backgrounds of changed lines, if the terminal says more of itself than the theme knows. */
function grounds(name: ThemeName, environment: NodeJS.ProcessEnv): Partial<Styles> {
  const [, background = ""] = /;(\d+)$/.exec(environment["COLORFGBG"] ?? "") ?? [];
  // the colours 7 and 9 to 15 of the palette are light ones
  const isLight = background !== "" && (background === "7" || Number(background) > 8);
  if (name === "terminal" && isLight) return onLight;
  return (name === "terminal" || name === "dark") && hasAllColours(environment) ? fine : {};
}

/** Many terminals do not set COLORTERM, or ssh drops it; of these kinds it is known. */
function hasAllColours({ COLORTERM: depth = "", TERM: kind = "", ...more }: NodeJS.ProcessEnv): boolean {
  if (/^(?:truecolor|24bit)$/.test(depth)) return true;
  if (more["TERM_PROGRAM"] === "Apple_Terminal") return false;
  if (kind === "screen-256color") return more["TMUX"] !== undefined;
  return /^(?:xterm|tmux)-256color$|kitty|ghostty|alacritty|wezterm|^foot|-direct$/.test(kind);
}
