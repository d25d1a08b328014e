// Loads a dialect. Only connections that speak it pay for it.

import type { Dialect, DialectName } from "../../edition/dialect.ts";

export async function loadDialect(name: DialectName): Promise<Dialect> {
  if (name === "pharo") return (await import("../../edition/pharo/dialect.ts")).pharo;
  return (await import("../../edition/scoped/dialect.ts")).scoped;
}
