// The library never touches the console: whoever builds a connection may pass a logger.

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Fields carry methods, ids, sizes and codes; never params, results or text of a message. */
export type Log = (level: LogLevel, message: string, fields: Readonly<Record<string, unknown>>) => void;
