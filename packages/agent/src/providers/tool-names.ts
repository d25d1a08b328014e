// Maps tool names to names that every provider accepts: letters, digits, _ and -, at most 64 characters.

export interface ToolNames {
  toWire(name: string): string;
  fromWire(name: string): string;
}

const limit = 64;

export function toolNames(names: Iterable<string>): ToolNames {
  const toWire = new Map<string, string>();
  const fromWire = new Map<string, string>();
  const add = (name: string): string => {
    const known = toWire.get(name);
    if (known !== undefined) return known;
    const plain = name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, limit) || "_";
    // Gemini requires a letter or an underscore first
    const base = /^[0-9-]/.test(plain) ? `_${plain}`.slice(0, limit) : plain;
    let wire = base;
    for (let count = 2; fromWire.has(wire); count++) {
      const suffix = `_${count}`;
      wire = base.slice(0, limit - suffix.length) + suffix;
    }
    toWire.set(name, wire);
    fromWire.set(wire, name);
    return wire;
  };
  for (const name of names) add(name);
  return { toWire: add, fromWire: (name) => fromWire.get(name) ?? name };
}
