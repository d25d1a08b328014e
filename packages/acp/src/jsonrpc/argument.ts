// Describes a wrong argument in an error message.

const literalLength = 40;

/** `42`, `"ls"`, `nothing`, `a list`, `an object`: short, and never the contents of an object. */
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
