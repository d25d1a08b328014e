// An agent on Parley's typed wire of v1, on stdio.

import { stdioTransport } from "@parley/acp/node";
import { wireAgent } from "./wire-agent.ts";

// The limits are raised for the prompt of 64 MiB only; they cost the same wherever they are.
const huge = 512 * 2 ** 20;

wireAgent(stdioTransport({ limits: { maxMessageBytes: huge } }), { limits: { maxInFlightBytes: huge } });
