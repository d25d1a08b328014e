// The proxies in front of an agent: those that were typed, or else those of the session that is continued.

import type { HistorySession } from "@parley/client/history";
import { CommandError, usageError } from "../command/command.ts";
import type { Front } from "../proxy/chain-front.ts";
import type { ChainVoice } from "../proxy/chain-voice.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import type { LiveOptions } from "./live-options.ts";

type Given = Pick<LiveOptions, "front" | "proxies" | "sandboxesAgent">;

/** `tell` is told about those of the session. Throws a CommandError for one that cannot be used any more. */
export async function sessionFront(
  { front, proxies, sandboxesAgent }: Given,
  known: HistorySession | undefined,
  { tell, ...voice }: ChainVoice & { tell(text: string): void },
): Promise<Front | undefined> {
  if (proxies !== undefined || known === undefined || known.proxies.length === 0) return front?.(voice);
  const [{ chainFront }, { shownWords }] = await Promise.all([
    import("../proxy/chain-front.ts"),
    import("../settings/known-secrets.ts"),
  ]);
  const words = known.proxies;
  const after = (option: string) => words.flatMap((word, at) => (words[at - 1] === option ? [word] : []));
  const [chain] = after("--chain");
  const values = { chain, proxy: after("--proxy"), ...(sandboxesAgent && { sandbox: true }) };
  try {
    const made = chainFront(values, voice);
    tell(`with the proxies of this session: ${escapedLine(shownWords(words).join(" "))}`);
    return made;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw usageError(
      `the proxies of this session cannot be used: ${error.message}`,
      "choose others with --proxy or --chain, or --proxy none",
    );
  }
}
