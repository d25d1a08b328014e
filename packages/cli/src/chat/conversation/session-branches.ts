// The sessions among which a rewind goes: those that are open here, and those of the history.

import type { Entry } from "@parley/acp";
import type { Conversation, SessionReference } from "@parley/client/conversation";
import type { BranchPoint, SessionBranches, SessionHost } from "@parley/client/internal";
import type { HistoryOpener } from "../../live/history-opener.ts";

/** A session that runs here: its host, and what is shown of it. */
export interface RunningSession {
  readonly host: SessionHost;
  readonly shown: Conversation;
}

export interface BranchesOptions {
  readonly history: HistoryOpener | undefined;
  /** Opens the session of a branch, and does not show it yet. */
  begin(of: SessionHost, point: BranchPoint): RunningSession;
  /** A session that is open, or is opened now. */
  open(session: SessionReference): RunningSession;
}

export function sessionBranches({ history, begin, open }: BranchesOptions): SessionBranches {
  return {
    async *entries(historyId): AsyncGenerator<Entry> {
      const opened = await history?.open();
      if (opened !== undefined) yield* opened.entries(historyId);
    },
    open: (of, point) => started(begin(of, point)),
    reopen: (session) => started(open(session)),
    async left(historyId, to) {
      await (await history?.open())?.rewound(historyId, to);
    },
  };
}

/** Rejects with why it is not open; it is closed then. */
async function started({ host, shown }: RunningSession): Promise<SessionHost> {
  await new Promise<void>((resolve) => {
    const check = () => {
      if (shown.phase === "starting") return;
      remove();
      resolve();
    };
    const remove = shown.onEvent(check);
    check();
  });
  const { phase, problem } = shown;
  if (phase === "ready" || phase === "crashed") return host;
  const why = [problem?.message ?? "the session could not be opened", problem?.hint];
  await shown.close();
  throw new Error(why.filter((text) => text !== undefined).join("; "));
}
