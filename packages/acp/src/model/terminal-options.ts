// The names of the options of a new terminal, here and at a client.

import type { Keys } from "../base/known-options.ts";
import type { CreateTerminalOptions } from "./services.ts";

export const createTerminalKeys: Keys<CreateTerminalOptions> = {
  command: true,
  args: true,
  env: true,
  cwd: true,
  outputByteLimit: true,
  timeoutMs: true,
  signal: true,
  _meta: true,
};
