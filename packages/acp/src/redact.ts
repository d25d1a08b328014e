// Takes secrets out of what is kept or shared: traces, histories, exports, logs. Runs wherever JavaScript runs.

export { Redactor, type RedactorOptions } from "./redact/redactor.ts";
