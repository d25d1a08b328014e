// How messages name an argument that is wrong: for those who write JavaScript, whom no compiler has told.

const literalLength = 40;

/** `42`, `"ls"`, `nothing`, `a list`, `an object`: short, and never the inside of an object. */
export function argumentText(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") {
    const short = value.length > literalLength ? `${value.slice(0, literalLength)}…` : value;
    return JSON.stringify(short.toWellFormed());
  }
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  return Array.isArray(value) ? "a list" : "an object";
}
