// Checks what an application sends against the model, whichever version its client speaks.

import { type Failure, modes } from "../validation/failure.ts";
import type { PermissionRequest } from "./ask.ts";
import type { SessionUpdate } from "./update.ts";
import * as validate from "./validators.gen.ts";

export interface ModelRules {
  update(update: SessionUpdate): Failure | undefined;
  permission(ask: PermissionRequest): Failure | undefined;
}

/** `features` is the part of a mode that enables unstable features. */
export function modelRules(features: number): ModelRules {
  const mode = modes.strict | modes.checks | modes.own | features;
  return {
    update: (update) => validate.SessionUpdate(update, mode),
    permission: (ask) => validate.PermissionRequest(ask, mode),
  };
}
