// Finds secrets in settings, for Parley's own packages only, without compatibility between versions.

export { secretsIn } from "./redact/redactor.ts";
export { isSecretVariable } from "./redact/secret-variables.ts";
