// The dialect `pharo`: version 1 as the document of the Pharo client describes it.

import type { Dialect } from "../dialect.ts";
import { agentSide } from "./agent.ts";
import { aliasReader } from "./alias.ts";
import { clientSide } from "./client.ts";

export const pharo: Dialect = { name: "pharo", agentSide, clientSide, aliases: aliasReader };
