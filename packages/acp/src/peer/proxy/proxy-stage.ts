// A proxy in this process, in its place of a chain.

import type { Port } from "../../forward/port.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { type ChainComponent, isPolicy } from "./component.ts";
import { ProxiedLink } from "./proxied-link.ts";
import type { ProxyDefinition } from "./proxy-definition.ts";
import type { Stage, StageHost } from "./stage.ts";

export class ProxyStage implements Stage {
  readonly name: string;
  readonly isPolicy: boolean;
  readonly fromClient: Port;
  readonly fromAgent: Port;
  readonly #proxied: ProxiedLink;
  readonly #definition: ProxyDefinition<unknown>;

  constructor(component: ChainComponent, definition: ProxyDefinition<unknown>, host: StageHost, log: Log) {
    this.name = component.name;
    this.#definition = definition;
    this.isPolicy = isPolicy(component);
    this.#proxied = new ProxiedLink({
      definition,
      errors: this.isPolicy ? "closed" : (component.errors ?? definition.errors ?? "open"),
      isPolicy: this.isPolicy,
      log: definition.log ?? log,
      failed: (reason) => host.failed(`${this.name}: ${reason}`),
    });
    const { from } = this.#proxied.link;
    this.fromClient = from.client;
    this.fromAgent = from.agent;
  }

  connect({ client, agent }: { readonly client: Port; readonly agent: Port }): void {
    Object.assign(this.#proxied.link.to, { client, agent });
  }

  async close(): Promise<void> {
    this.#proxied.watch.close();
    this.#definition.closed?.();
  }
}
