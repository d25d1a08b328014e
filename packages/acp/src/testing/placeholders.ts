// Fills in `{{name}}` placeholders in the strings of a scenario.

export type Values = Readonly<Record<string, unknown>>;

/** Copies the value with its placeholders filled in. Unknown ones stay. */
export function filled<Value>(value: Value, values: Values): Value {
  // as: the shape stays, except for strings that are one placeholder
  return fill(value, values) as Value;
}

function fill(value: unknown, values: Values): unknown {
  if (typeof value === "string") return value.includes("{{") ? fillText(value, values) : value;
  if (Array.isArray(value)) return value.map((item) => fill(item, values));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, values)]));
}

function fillText(text: string, values: Values): unknown {
  const whole = /^\{\{(\w+)\}\}$/.exec(text)?.[1];
  if (whole !== undefined && Object.hasOwn(values, whole)) return values[whole];
  return text.replaceAll(/\{\{(\w+)\}\}/g, (placeholder, name: string) => {
    if (!Object.hasOwn(values, name)) return placeholder;
    const value = values[name];
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}
