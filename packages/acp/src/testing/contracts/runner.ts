// The test runner that a contract suite registers its tests with.

/**
 * The functions of a test runner. `node:test` and `node:assert/strict` fit as they are; other runners need a few lines.
 */
export interface ContractRunner {
  /** Registers a test. */
  readonly test: (name: string, options: ContractTestOptions, body: () => Promise<void>) => unknown;
  /** The assertions that the tests use. */
  readonly assert: ContractAssert;
}

/** The options of one test. */
export interface ContractTestOptions {
  /** The time limit, in milliseconds. */
  readonly timeout: number;
  /** The reason to skip the test, or false. */
  readonly skip: string | false;
}

/** The assertions of a contract suite. */
export interface ContractAssert {
  /** Throws unless the value is truthy. */
  ok(value: unknown, message?: string): void;
  /** Throws unless `Object.is` holds. */
  equal(actual: unknown, expected: unknown, message?: string): void;
  /** Throws unless both have the same structure and values. */
  deepEqual(actual: unknown, expected: unknown, message?: string): void;
  /** Rejects unless the promise rejects with a matching message or `kind`. */
  rejects(
    promise: Promise<unknown> | (() => Promise<unknown>),
    error: RegExp | { readonly kind: string },
    message?: string,
  ): Promise<void>;
}
