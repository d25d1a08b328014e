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

const v1Wire = { idPolicy: "any", nulls: "removed", dialects: dialectTells } as const;
const v2Wire = { idPolicy: "strict", nulls: "removed" } as const;

export async function loadAgentVersion(version: ProtocolVersion): Promise<BoundVersion<AgentEdition>> {
  if (version === 1) {
    const { v1AgentEdition: edition, methods } = await import("../../edition/v1/agent.ts");
    return { edition, wire: { ...v1Wire, methods: complete(methods), extras: "received" } };
  }
  const { v2AgentEdition: edition, methods } = await import("../../edition/v2/agent.ts");
  const wire = {
    ...v2Wire,
    methods: complete(methods),
    ownValues: "underscored",
    extras: "received",
  } as const;
  return { edition, wire };
}

export async function loadClientVersion(version: ProtocolVersion): Promise<BoundVersion<ClientEdition>> {
  if (version === 1) {
    const { v1ClientEdition: edition, methods } = await import("../../edition/v1/client.ts");
    return { edition, wire: { ...v1Wire, methods: complete(methods) } };
  }
  const { v2ClientEdition: edition, methods } = await import("../../edition/v2/client.ts");
  return { edition, wire: { ...v2Wire, methods: complete(methods) } };
}

export class HeldInput {
  #held: (() => void)[] | undefined = [];
  #dropped: Error | undefined;

  /** Runs the work now, or in order when `release` is called. */
  notification(work: () => void): void {
    if (this.#held === undefined) work();
    else this.#held.push(work);
  }

  request(work: () => unknown): unknown {
    const held = this.#held;
    if (held === undefined) return work();
    return new Promise((resolve, reject) => {
      held.push(() => {
        try {
          if (this.#dropped !== undefined) throw this.#dropped;
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  /** Refuses the requests that are held, and drops the notifications. */
  drop(error: Error): void {
    this.#dropped = error;
    this.release();
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const work of held) work();
  }
}
