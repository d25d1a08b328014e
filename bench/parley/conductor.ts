// A chain of idle proxies in processes of their own, in front of the agent whose command is in the arguments. At its end it
// writes the CPU time that it took into the file PARLEY_BENCH_CPU.

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { serveStdio, spawnTransport } from "@parley/acp/node";
import { conductor } from "@parley/acp/proxy";
import { usage } from "../usage.ts";

const [count = "0", command = "", ...args] = process.argv.slice(2);
const idle = fileURLToPath(new URL("./idle-proxy.ts", import.meta.url));
const proxies = Array.from({ length: Number(count) }, (_, i) => ({
  name: `idle ${i}`,
  start: () => spawnTransport(process.execPath, [...process.execArgv, idle]),
}));
process.on("exit", () => {
  const file = process.env.PARLEY_BENCH_CPU;
  if (file !== undefined) writeFileSync(file, String(usage().cpuMs));
});
await serveStdio(conductor([...proxies, () => spawnTransport(command, args)]));
