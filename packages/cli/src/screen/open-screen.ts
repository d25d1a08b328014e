// Opens a screen on the terminal of this process.

import { ProcessTerminal } from "@earendil-works/pi-tui/dist/terminal.js";
import type { Screen } from "./screen.ts";
import { type ScreenOptions, TerminalScreen } from "./terminal-screen.ts";
import { terminalWatch } from "./terminal-watch.ts";

/** Standard input and output must be terminals. */
export function openScreen(options: Omit<ScreenOptions, "watch">): Screen {
  return new TerminalScreen(new ProcessTerminal(), process.env, { watch: terminalWatch(), ...options });
}
