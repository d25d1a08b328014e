export type { Effect, Operation, Scope, Subject, SubjectOrigin } from "./subject.ts";
