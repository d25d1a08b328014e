// What hostile peers of the dialects send: every message, damaged in every place.

export type Dialect = "pharo" | "scoped";
export const limit = { timeout: 60_000 };
export const dialects = ["pharo", "scoped"] as const;

/** JSON, so that a field may have any name. */
export const json = (text: string): never => JSON.parse(text) as never; // the test knows what it wrote

export const wrongValues = [
  null,
  true,
  0,
  -1,
  1.5,
  "",
  "x",
  [],
  [[]],
  {},
  json('{"__proto__":{"a":1},"constructor":1}'),
];

/** A message with each of its fields left out, and replaced by each wrong value. */
export function damaged(params: object): object[] {
  return Object.entries(params).flatMap(([key, value]) => {
    const { [key]: _, ...without } = params as Record<string, unknown>;
    const inner = typeof value === "object" && value !== null ? damaged(value) : [];
    return [without, ...[...wrongValues, ...inner].map((each) => ({ ...params, [key]: each }))];
  });
}

export const text = [{ type: "text", text: "hi" }];
