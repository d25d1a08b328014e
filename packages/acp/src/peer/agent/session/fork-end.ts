// Finds where a fork ends that is to have what came before a message of the user.

import { extensionIn, forkBeforeKey } from "../../../base/parley-extensions.ts";
import type { Activation } from "../../../edition/agent-edition.ts";
import { RequestError } from "../../../jsonrpc/errors.ts";
import type { StoredHistory } from "./guarded-store.ts";

/** The last entry of the fork. Without a message it has all of them. */
export async function forkEnd(
  history: StoredHistory,
  { _meta }: Activation,
): Promise<{ readonly atSeq?: number }> {
  const before = extensionIn(_meta, forkBeforeKey);
  if (before === undefined) return {};
  for await (const page of history.pages())
    for (const stored of page) {
      // nothing else is parsed: a long session has few prompts
      if (stored.kind !== "prompt" && stored.kind !== "inbox") continue;
      const entry = history.read(stored);
      if ("messageId" in entry && entry.messageId === before) return { atSeq: stored.seq - 1 };
    }
  throw RequestError.invalidParams(
    `the session has no message of the user with the id ${JSON.stringify(before)}`,
    `/_meta/${forkBeforeKey.replace("/", "~1")}`,
  );
}
