// The error of a config file.

/** The config file cannot be used. The message has one line per problem, and never contains values. */
export class ConfigError extends Error {
  /** Always "ConfigError". */
  override readonly name = "ConfigError";
}
