// Says which shell runs the commands of the model.

import { existsSync } from "node:fs";

export function shellProgram(): string {
  if (process.platform === "win32") return "cmd.exe";
  return existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
}
