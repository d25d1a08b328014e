// Lists the environment variables that cannot change what a command does (N185).

const word = /^[\w.@+-]*$/;
const number = /^\d{0,6}$/;

/** By name, with the values that are harmless. Agents set many of them, so that nothing waits for a person. */
const harmless: ReadonlyMap<string, RegExp> = new Map([
  ["CI", /^\w*$/],
  ["NO_COLOR", /^\w*$/],
  ["FORCE_COLOR", /^\w*$/],
  ["CLICOLOR", /^\w*$/],
  ["CLICOLOR_FORCE", /^\w*$/],
  ["COLORTERM", /^\w*$/],
  ["COLUMNS", number],
  ["LINES", number],
  ["TERM", word],
  ["LANG", word],
  ["LANGUAGE", word],
  ["LC_ALL", word],
  ["LC_CTYPE", word],
  ["TZ", /^[A-Z][A-Za-z_]*(?:\/[A-Za-z_]+)*$/],
  ["PAGER", /^(?:cat)?$/],
  ["MANPAGER", /^(?:cat)?$/],
  ["GIT_PAGER", /^(?:cat)?$/],
  ["GH_PAGER", /^(?:cat)?$/],
  ["GIT_EDITOR", /^true$/],
  ["GIT_TERMINAL_PROMPT", /^0$/],
  ["DEBIAN_FRONTEND", /^noninteractive$/],
  ["PYTHONUNBUFFERED", /^\w*$/],
  ["NODE_ENV", /^(?:test|development|production)$/],
]);

/** The variables of a command that a rule or an answer has to name. Undefined: there are none. */
export function notableVariables(
  env: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | undefined {
  const notable = Object.entries(env).filter(([name, value]) => !harmless.get(name)?.test(value));
  return notable.length === 0 ? undefined : Object.fromEntries(notable);
}

/** The same names with the same values, in whatever order. */
export function areSameVariables(
  one: Readonly<Record<string, string>> = {},
  other: Readonly<Record<string, string>> = {},
): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && one[name] === other[name])
  );
}
