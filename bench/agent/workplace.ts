// A home and a project for one benchmark, with a model that does what it is told.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { modelServer } from "./model-server.ts";

export interface Workplace {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
}

export async function inWorkplace<Result>(work: (place: Workplace) => Promise<Result>): Promise<Result> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-bench-agent-")));
  const model = await modelServer();
  try {
    const [cwd, home] = [join(folder, "project"), join(folder, "home")];
    for (const each of [cwd, home, join(home, "config")]) mkdirSync(each);
    const agent = {
      model: "bench/m",
      mode: "code",
      // what it costs is measured by sandbox.command
      sandbox: "off",
      providers: { bench: { baseUrl: model.url, apiKey: "k" } },
    };
    writeFileSync(join(home, "config/config.json"), JSON.stringify({ agent }));
    return await work({ cwd, home, env: { PARLEY_HOME: home, PARLEY_MODEL: "" } });
  } finally {
    model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
