// Removes secrets from traces, histories, exports and logs, in every JavaScript runtime.

export { Redactor, type RedactorOptions } from "./redact/redactor.ts";
export { isSecretVariable } from "./redact/secret-patterns.ts";
export { secretsIn } from "./redact/secrets-in.ts";
export { StreamRedactor } from "./redact/stream-redactor.ts";
