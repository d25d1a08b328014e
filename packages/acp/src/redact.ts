// Takes secrets out of what is kept or shared: traces, histories, exports, logs. Runs wherever JavaScript runs.

export { Redactor, type RedactorOptions } from "./redact/redactor.ts";
export { isSecretVariable } from "./redact/secret-patterns.ts";
export { secretsIn } from "./redact/secrets-in.ts";
export { StreamRedactor } from "./redact/stream-redactor.ts";
