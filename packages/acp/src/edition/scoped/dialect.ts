// The dialect scoped: version 1 with capabilities, permissions and files of its own shapes.

import type { Dialect } from "../dialect.ts";
import { scopedAgentSide } from "./agent.ts";
import { scopedClientSide } from "./client.ts";

export const scoped: Dialect = {
  name: "scoped",
  agentSide: scopedAgentSide,
  clientSide: scopedClientSide,
};
