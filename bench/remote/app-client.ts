// Clients on client(), whose agents are on agent().

import type { BenchClient } from "../client-work.ts";
import { appBenchClient } from "../parley/bench-client.ts";
import { transportTo } from "./ours-client.ts";
import type { Address, Wire } from "./server-process.ts";

export function connect(address: Address, wire: Wire): Promise<BenchClient> {
  return appBenchClient(transportTo(address, wire), "v1");
}
