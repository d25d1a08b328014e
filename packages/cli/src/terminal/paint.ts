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
  addedWord: "7;32",
  removedWord: "7;31",
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
  addedWord: "38;5;114;48;5;22",
  removedWord: "38;5;210;48;5;52",
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
  addedWord: "38;5;22;48;5;194",
  removedWord: "38;5;88;48;5;224",
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
  addedWord: "7;38;5;39",
  removedWord: "7;38;5;208",
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
  addedWord: "1;4",
  removedWord: "2;4",
  keyword: "1",
  string: "",
  number: "",
  comment: "2",
  name: "",
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
  const styles = themes[name];
  return (role, text) => (styles[role] === "" ? text : `\u001b[${styles[role]}m${text}\u001b[0m`);
}
