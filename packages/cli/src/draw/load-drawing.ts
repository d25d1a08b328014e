// Loads the large parts that drawing uses.

import { loadHighlighting } from "./highlight.ts";
import { loadEmulation } from "./terminal-lines.ts";

/** Loads the colours of code and the emulation of terminals. Before, both are drawn without colours. */
export async function loadDrawing(): Promise<void> {
  await Promise.all([loadHighlighting(), loadEmulation()]);
}
