// Takes back words of the model whose answer broke off.

import type { Turn } from "@parley/acp";
import { withdrawnKey } from "@parley/acp/extensions";
import { tell } from "./tell.ts";

/** Clients cannot remove what they have shown, so the user is told that it is void. The next text is a new message. */
export async function withdraw(
  turn: Pick<Turn, "client" | "notice" | "think" | "update">,
  text: string,
  reason: string,
): Promise<void> {
  await turn.update({ sessionUpdate: "session_info_update", _meta: { [withdrawnKey]: text.length } });
  await tell(turn, `${reason} The model is asked again; its last words above do not count.`);
}
