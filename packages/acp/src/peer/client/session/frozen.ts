// Freezes values for listeners of a strict client.

/** The same value, frozen all the way down. */
export function frozen<Value>(value: Value): Value {
  // views on binary data cannot be frozen
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value))
    return value;
  Object.freeze(value);
  for (const item of Object.values(value)) frozen(item);
  return value;
}
