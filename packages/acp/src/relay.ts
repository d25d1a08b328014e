// Connects a client of one version of the protocol to an agent of another.

export { type Relay, type RelayedEditions, relay } from "./peer/relay/relay.ts";
export type { ClientToolServices, ClientTools, RelayOptions } from "./peer/relay/relay-options.ts";
