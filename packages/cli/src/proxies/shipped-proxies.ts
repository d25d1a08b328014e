// The proxies that come with Parley, in the order in which they are listed.

import { budget } from "./budget.ts";
import { context } from "./context.ts";
import { notify } from "./notify.ts";
import { policy } from "./policy.ts";
import { redact } from "./redact.ts";
import { route } from "./route.ts";
import type { ShippedProxy } from "./shipped-proxy.ts";
import { tap } from "./tap.ts";
import { tools } from "./tools.ts";

export const shippedProxies: readonly ShippedProxy[] = [
  budget,
  redact,
  context,
  tools,
  route,
  tap,
  notify,
  policy,
];
