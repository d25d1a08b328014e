// The dialect `pharo`: version 1 as the document of the Pharo client describes it.

import type { DialectMachines } from "@parley/acp/transport";
import { agentSide } from "./agent.ts";
import { clientSide } from "./client.ts";

export const pharoMachines: DialectMachines = { agentSide, clientSide };
