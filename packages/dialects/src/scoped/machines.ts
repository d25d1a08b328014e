// The dialect scoped: version 1 with capabilities, permissions and files of its own shapes.

import type { DialectMachines } from "@parley/acp/transport";
import { scopedAgentSide } from "./agent.ts";
import { scopedClientSide } from "./client.ts";

export const scopedMachines: DialectMachines = { agentSide: scopedAgentSide, clientSide: scopedClientSide };
