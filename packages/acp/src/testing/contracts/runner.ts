// The test runner that a contract suite registers its tests with.

/** `node:test` and `node:assert/strict` fit as they are; other runners need a few lines. */
export interface ContractRunner {
  readonly test: (name: string, options: ContractTestOptions, body: () => Promise<void>) => unknown;
  readonly assert: ContractAssert;
}

export interface ContractTestOptions {
  readonly timeout: number;
  /** The reason to skip the test, or false. */
  readonly skip: string | false;
}

export interface ContractAssert {
  ok(value: unknown, message?: string): void;
  equal(actual: unknown, expected: unknown, message?: string): void;
  deepEqual(actual: unknown, expected: unknown, message?: string): void;
  rejects(
    promise: Promise<unknown> | (() => Promise<unknown>),
    error: RegExp | { readonly kind: string },
    message?: string,
  ): Promise<void>;
}
