// Finds secrets, and removes them from traces, histories, exports and logs, in every JavaScript runtime.

export { type Redactor, type RedactorOptions, redactor, secretsIn } from "./redact/redactor.ts";
export { isSecretVariable } from "./redact/secret-variables.ts";
export { type StreamRedactor, type StreamRedactorOptions, streamRedactor } from "./redact/stream-redactor.ts";
