// The smallest agent on the built package that answers `initialize` on v1. Without the condition
// `parley-source`, these names are packages/acp/dist.

import { stdioTransport } from "@parley/acp/node";
import { agentPeer } from "@parley/acp/v1";

agentPeer(stdioTransport(), {
  requests: {
    initialize: () => ({
      protocolVersion: 1,
      agentCapabilities: {},
      agentInfo: { name: "parley", version: "1.0.0" },
    }),
  },
});
