// The dialect scoped: version 1 with capabilities, permissions and files of its own shapes.

import type { DialectMachines } from "@parley/acp/transport";
import { scopedClientSide } from "./client.ts";
import { scopedAgentSide } from "./scoped-agent.ts";

export const scopedMachines: DialectMachines = { agentSide: scopedAgentSide, clientSide: scopedClientSide };
