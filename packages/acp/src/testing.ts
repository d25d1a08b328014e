// Test helpers for apps, and contract suites for transports and stores, in every JavaScript runtime.

export { type Collected, collect } from "./testing/collect.ts";
export type { ContractAssert, ContractRunner, ContractTestOptions } from "./testing/contracts/runner.ts";
export { type StoreContractOptions, storeContract } from "./testing/contracts/store-contract.ts";
export { transportContract } from "./testing/contracts/transport-contract.ts";
export type {
  ContractException,
  ContractOptions,
  MakeTransportPair,
  TransportPair,
} from "./testing/contracts/transport-pair.ts";
