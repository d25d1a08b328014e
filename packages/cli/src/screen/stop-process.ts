// Stops this process as a shell does it for Ctrl-Z, until it is continued.

import { setTimeout } from "node:timers/promises";

/** A process that nobody could continue is not stopped by the system. */
const stopMs = 500;

export interface StoppingProcess {
  once(signal: "SIGCONT", listener: () => void): unknown;
  removeListener(signal: "SIGCONT", listener: () => void): unknown;
  kill(pid: number, signal: "SIGTSTP"): unknown;
}

/** Resolves when it goes on. The terminal must be as the shell expects it: see `Screen.suspend`. */
export async function stopProcess(self: StoppingProcess = process): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const continued = () => resolve();
  self.once("SIGCONT", continued);
  // with the processes of the same job, such as npm
  self.kill(0, "SIGTSTP");
  await Promise.race([promise, setTimeout(stopMs)]);
  self.removeListener("SIGCONT", continued);
}
