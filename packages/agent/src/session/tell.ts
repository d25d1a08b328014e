// Tells the user something that the model does not say.

import type { Turn } from "@parley/acp";

/** As a notice, or as a thought for clients without notices. */
export async function tell(
  turn: Pick<Turn, "client" | "notice" | "think">,
  text: string,
  severity: "info" | "warning" = "warning",
): Promise<void> {
  await (turn.client.capabilities.notices ? turn.notice(severity, text) : turn.think(`${text}\n`));
}
