// Lists the environment variables that cannot change what a command does (N185).

/** Names with the values that are harmless. Agents set many of them, so that nothing waits for a person. */
const harmless = [
  /^(?:CI|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLORTERM|PYTHONUNBUFFERED)=\w*$/,
  /^(?:COLUMNS|LINES)=\d{0,6}$/,
  /^(?:TERM|LANG|LANGUAGE|LC_ALL|LC_CTYPE)=[\w.@+-]*$/,
  /^TZ=[A-Z][A-Za-z_]*(?:\/[A-Za-z_]+)*$/,
  /^(?:PAGER|MANPAGER|GIT_PAGER|GH_PAGER)=(?:cat)?$/,
  /^(?:GIT_EDITOR=true|GIT_TERMINAL_PROMPT=0|DEBIAN_FRONTEND=noninteractive)$/,
  /^NODE_ENV=(?:test|development|production)$/,
];

/** @inline */
export type Variables = Readonly<Record<string, string>>;

/** The variables of a command that a rule or an answer has to name. Undefined: there are none. */
export function notableVariables(env: Variables): Variables | undefined {
  const notable = Object.entries(env).filter(
    ([name, value]) => !harmless.some((each) => each.test(`${name}=${value}`)),
  );
  return notable.length === 0 ? undefined : Object.fromEntries(notable);
}

/** The same names with the same values, in whatever order. */
export function areSameVariables(one: Variables = {}, other: Variables = {}): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && one[name] === other[name])
  );
}
