// Recognises and builds plain objects.

/** The type with all of its fields, lists and maps readonly, at every depth. */
export type Immutable<Type> = unknown extends Type
  ? Type
  : Type extends string | number | boolean | null | undefined
    ? Type
    : { readonly [Key in keyof Type]: Immutable<Type[Key]> };

/**
 * Whether a value is an object, and neither null nor an array.
 *
 * @example
 * import { isObject } from "@parley/acp/jsonrpc";
 *
 * const value: unknown = JSON.parse('{ "limit": 3 }');
 * if (isObject(value)) console.log(value["limit"]);
 */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether the value has a `then`, as promises have. */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function"
  );
}

/**
 * Returns the fields whose value is not undefined, to build objects whose optional fields may not be undefined.
 *
 * @example
 * import { optional } from "@parley/acp/jsonrpc";
 *
 * const cwd: string | undefined = process.argv[2];
 * const options: { readonly limit: number; readonly cwd?: string } = { limit: 3, ...optional({ cwd }) };
 * console.log(options);
 */
export function optional<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  const given: Partial<Fields> = {};
  for (const key in fields) if (fields[key] !== undefined) given[key] = fields[key];
  // the compiler cannot see that undefined fields were left out
  return given as { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };
}

/**
 * Makes methods of a class work without their object, as after destructuring. An object gets a function of its own when it is
 * first asked for one: most objects use few of their methods.
 */
export function bindMethods<Key extends string>(
  { prototype }: { readonly prototype: { [Name in Key]: unknown } },
  keys: readonly Key[],
): void {
  for (const key of keys) {
    const method = prototype[key];
    if (typeof method !== "function") continue;
    Object.defineProperty(prototype, key, {
      configurable: true,
      get(this: object) {
        const value: unknown = method.bind(this);
        Object.defineProperty(this, key, { value, configurable: true, writable: true });
        return value;
      },
    });
  }
}
