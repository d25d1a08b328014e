// Checks what an application sends against the model, whichever version its client speaks.

import { type Failure, modes } from "../validation/failure.ts";
import type { PermissionAsk } from "./ask.ts";
import type { Update } from "./update.ts";
import * as validate from "./validators.gen.ts";

export interface ModelRules {
  update(update: Update): Failure | undefined;
  permission(ask: PermissionAsk): Failure | undefined;
}

export function modelRules(unstable: boolean): ModelRules {
  const mode = modes.strict | modes.checks | modes.own | (unstable ? modes.unstable : 0);
  return {
    update: (update) => validate.Update(update, mode),
    permission: (ask) => validate.PermissionAsk(ask, mode),
  };
}
