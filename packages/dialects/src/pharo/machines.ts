// The dialect `pharo`: version 1 as the document of the Pharo client describes it.

import type { DialectMachines } from "@parley/acp/transport";
import { clientSide } from "./client.ts";
import { agentSide } from "./pharo-agent.ts";

export const pharoMachines: DialectMachines = { agentSide, clientSide };
