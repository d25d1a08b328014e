// Removes secrets from traces, histories, exports and logs, in every JavaScript runtime.

export { Redactor, type RedactorOptions, secretsIn } from "./redact/redactor.ts";
export { isSecretVariable } from "./redact/secret-patterns.ts";
export { StreamRedactor } from "./redact/stream-redactor.ts";
