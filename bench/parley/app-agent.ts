// An agent on agent(): turns, a session store, whatever version the client speaks, or with PARLEY_BENCH_AGENT=2
// version 2 only. PARLEY_BENCH_STORE=sqlite keeps the sessions in a file.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveStdio, sqliteStore } from "@parley/acp/node";
import { benchAgent } from "./bench-agent.ts";

const folder =
  process.env.PARLEY_BENCH_STORE === "sqlite"
    ? mkdtempSync(join(tmpdir(), "parley-bench-store-"))
    : undefined;
process.once("exit", () => folder && rmSync(folder, { recursive: true, force: true }));

await serveStdio(
  benchAgent({
    ...(folder && { session: { store: sqliteStore(join(folder, "sessions.db")) } }),
    ...(process.env.PARLEY_BENCH_AGENT === "2" ? { editions: ["v2"] as const } : {}),
  }),
);
