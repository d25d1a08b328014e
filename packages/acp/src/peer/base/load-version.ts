// Loads the edition and the wire of one version. Most connections need only one.

import type { AgentEdition } from "../../edition/agent-edition.ts";
import type { ClientEdition } from "../../edition/client-edition.ts";
import { dialectTells } from "../../edition/dialect-tells.ts";
import type { ProtocolVersion } from "../../edition/negotiate.ts";
import { passThrough } from "../../edition/pass-through.ts";
import type { WireVersion } from "../../wire/method-row.ts";

/** With the methods that the schemas do not have. */
function complete(methods: WireVersion["methods"]): WireVersion["methods"] {
  return [...methods, ...Array.from(passThrough.values()).flatMap(({ wire }) => wire ?? [])];
}

export interface BoundVersion<Edition> {
  readonly edition: Edition;
  readonly wire: WireVersion;
}

export async function loadAgentVersion(version: ProtocolVersion): Promise<BoundVersion<AgentEdition>> {
  if (version === 1) {
    const { v1AgentEdition, methods } = await import("../../edition/v1/agent.ts");
    return {
      edition: v1AgentEdition,
      wire: {
        methods: complete(methods),
        idPolicy: "any",
        nulls: "removed",
        extras: "received",
        dialects: dialectTells,
      },
    };
  }
  const { v2AgentEdition, methods } = await import("../../edition/v2/agent.ts");
  return {
    edition: v2AgentEdition,
    wire: {
      methods: complete(methods),
      idPolicy: "strict",
      nulls: "removed",
      ownValues: "underscored",
      extras: "received",
    },
  };
}

export async function loadClientVersion(version: ProtocolVersion): Promise<BoundVersion<ClientEdition>> {
  if (version === 1) {
    const { v1ClientEdition, methods } = await import("../../edition/v1/client.ts");
    return {
      edition: v1ClientEdition,
      wire: { methods: complete(methods), idPolicy: "any", nulls: "removed", dialects: dialectTells },
    };
  }
  const { v2ClientEdition, methods } = await import("../../edition/v2/client.ts");
  return {
    edition: v2ClientEdition,
    wire: { methods: complete(methods), idPolicy: "strict", nulls: "removed" },
  };
}
