// Removes secrets from traces, histories, exports and logs, in every JavaScript runtime.

export { type Redactor, type RedactorOptions, redactor } from "./redact/redactor.ts";
export { type StreamRedactor, streamRedactor } from "./redact/stream-redactor.ts";
