// A gateway in front of an agent on the typed wire of v1, or with PARLEY_BENCH_APP of one on agent().

import { startGateway } from "@parley/gateway";
import { benchAgent } from "../parley/bench-agent.ts";
import { wireAgent } from "../parley/wire-agent.ts";
import { serveUntilEnd } from "./server-process.ts";

type Connect = Parameters<typeof startGateway>[0]["connect"];

const app = benchAgent();
const connect: Connect =
  process.env.PARLEY_BENCH_APP === undefined
    ? (transport) => wireAgent(transport)
    : (transport) => app.connect(transport);
const { url, token } = await startGateway({ connect });
serveUntilEnd({ url, token });
