// Builds objects with optional fields.

/** The fields without those that are undefined: `{ limit, ...optional({ cwd, cursor }) }`. */
export function optional<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  const given: Partial<Fields> = {};
  for (const key in fields) if (fields[key] !== undefined) given[key] = fields[key];
  // the compiler cannot see that undefined fields were left out
  return given as { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };
}
