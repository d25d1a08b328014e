// The type of loggers; the library itself never writes to the console.

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Fields hold methods, ids, sizes and codes; never params, results or the text of a message. */
export type Log = (level: LogLevel, message: string, fields: Readonly<Record<string, unknown>>) => void;
