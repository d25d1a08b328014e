// Checks what an application sends against the model, whichever version its client speaks.

import { type Failure, modes } from "../validation/failure.ts";
import type { PermissionRequest } from "./ask.ts";
import type { SessionUpdate } from "./update.ts";
import * as validate from "./validators.gen.ts";

export interface ModelRules {
  update(update: SessionUpdate): Failure | undefined;
  permission(ask: PermissionRequest): Failure | undefined;
}

export function modelRules(unstable: boolean): ModelRules {
  const mode = modes.strict | modes.checks | modes.own | (unstable ? modes.unstable : 0);
  return {
    update: (update) => validate.SessionUpdate(update, mode),
    permission: (ask) => validate.PermissionRequest(ask, mode),
  };
}
