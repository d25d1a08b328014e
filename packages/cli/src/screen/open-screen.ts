// Opens a screen on the terminal of this process.

import { ProcessTerminal } from "@earendil-works/pi-tui/dist/terminal.js";
import type { Screen } from "./screen.ts";
import { TerminalScreen } from "./terminal-screen.ts";

/** Standard input and output must be terminals. */
export function openScreen(): Screen {
  return new TerminalScreen(new ProcessTerminal());
}
