// The dialects of version 1 that Parley speaks. A dialect is a transport that translates (`Dialect` of `@parley/acp/transport`).

export { editionNamed, editionNames, type NamedEdition } from "./named.ts";
export { pharo } from "./pharo.ts";
export { scoped } from "./scoped.ts";
