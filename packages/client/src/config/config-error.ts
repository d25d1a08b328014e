// The error of a config file.

/** The file cannot be used. The message has every reason on its own line, and no values. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
