import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../acp/test/support/at-end.ts";

const module = new URL("terminal-watch.ts", import.meta.url).href;

test("after a kill the keys work before the screen is back, so that none is lost", (t) => {
  const folder = temporaryFolder(t, "parley-watch-");
  const stty = join(folder, "stty");
  writeFileSync(stty, '#!/bin/sh\nif test "$1" = -g; then echo same; else printf "keys, " >&0; fi\n');
  chmodSync(stty, 0o755);
  const text = `import { terminalWatch } from ${JSON.stringify(module)};
    terminalWatch().begin("screen"); process.kill(process.pid, "SIGKILL");`;
  const { stdout } = spawnSync(
    process.execPath,
    ["--conditions=parley-source", "--input-type=module", "-e", text],
    {
      encoding: "utf8",
      timeout: 60_000,
      env: { ...process.env, PATH: `${folder}${delimiter}${process.env["PATH"]}` },
    },
  );
  assert.equal(stdout, "keys, screen");
});
