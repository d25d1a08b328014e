// A whole agent in a sandbox that runs a command in a sandbox of its own. Prints what the command printed.
//
//   node nested-program.ts FOLDER PROFILE

import { fileURLToPath } from "node:url";
import { SandboxError } from "@parley/sandbox";
import { placeIn, runIn } from "./workplace.ts";

const [base = "", profile = "agent", isInside] = process.argv.slice(2);
const { home, work, outside, open } = placeIn(base);

const attacks = `
cat file; echo new >file
[ -n "$AGENT_API_KEY" ] && echo 'has the key'
cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep ^AGENT_API_KEY=
cat /proc/[0-9]*/root${home}/.mine/key /proc/[0-9]*/root${home}/.ssh/id_ed25519 2>/dev/null
cat /proc/[0-9]*/maps 2>/dev/null | grep -q /node && echo 'sees the memory of the agent'
(cat /proc/sys/kernel/core_pattern >/tmp/c && cat /tmp/c >/proc/sys/kernel/core_pattern) 2>/dev/null && echo 'set core_pattern'
grep -q '^CapEff:.0000000000000000$' /proc/self/status || echo 'has capabilities'
cat ${home}/.ssh/id_ed25519 ${home}/.mine/key 2>/dev/null
(echo evil >${outside}/file) 2>/dev/null && echo 'wrote outside'
(echo evil >${home}/.mine/key) 2>/dev/null && echo 'wrote the state of the agent'
(echo evil >.git/config) 2>/dev/null && echo 'wrote the config of git'
grep -q eth /proc/net/dev && echo 'has a network'
echo end`;

if (isInside === undefined) {
  const sandbox = await open(
    profile === "agent" ? { profile, state: [`${home}/.mine`] } : { profile: "strict" },
  );
  const words = [process.execPath, "--conditions=parley-source", fileURLToPath(import.meta.url), base];
  const line = [...words, profile, "inside"].map((word) => `'${word}'`).join(" ");
  const { stdout, stderr } = await runIn(sandbox, `exec ${line}`, { cwd: work, env: process.env });
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  await sandbox.close();
} else {
  try {
    const sandbox = await open({ hide: [`${home}/.mine`] });
    const { stdout, stderr } = await runIn(sandbox, attacks, { cwd: work, env: process.env });
    process.stdout.write(stdout);
    process.stderr.write(stderr);
    await sandbox.close();
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    process.stdout.write(error.problem);
  }
}
