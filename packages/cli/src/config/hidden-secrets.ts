// A config without what must not be on a screen: keys, and everything that is sent as a header or set as a variable.

const hidden = "(hidden)";

export function withoutSecrets(value: unknown, path: readonly string[] = []): unknown {
  const [parent, name] = [path.at(-2), path.at(-1)];
  const isSecret = name === "apiKey" || parent === "headers" || parent === "env";
  if (isSecret && typeof value === "string") return hidden;
  if (Array.isArray(value)) return value.map((each, index) => withoutSecrets(each, [...path, String(index)]));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, withoutSecrets(each, [...path, key])]),
  );
}
