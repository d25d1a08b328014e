// Names a value in an error message.

/** A value in few words: `"text"`, `7`, `null`, `an array`, `an object with connect, close`. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return JSON.stringify(value.slice(0, 100));
  if (Array.isArray(value)) return "an array";
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  const keys = Object.keys(value).slice(0, 5);
  return keys.length === 0 ? "an empty object" : `an object with ${keys.join(", ")}`;
}
