// Bad input in memory, without the cases whose point is their size: what framed.proof.test.ts does, in a second.

import { testCatalogue } from "./register-tests.ts";
import { openMemoryLink } from "./wire.ts";

for (const role of ["agent", "client"] as const) {
  for (const version of [1, 2] as const) {
    testCatalogue({ transport: "memory", role, version, open: openMemoryLink, fullSize: false });
  }
}
