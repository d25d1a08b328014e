// Offers a command that failed in the sandbox again, outside of it.

import type { TerminalHandle } from "@parley/acp";
import { ByteTail } from "@parley/acp/internal";
import { abortable, optional } from "@parley/acp/jsonrpc";
import type { ExitStatus } from "@parley/acp/model";
import { shownLine } from "../subjects/shown-text.ts";

/** Asks, and starts the command again. Undefined or a rejection: it stays as it is. */
export type RunAgain = (why: string, signal: AbortSignal) => Promise<TerminalHandle | undefined>;

/**
 * What the system says where it holds back a file or the network. Only then is it worth a question: most commands that fail,
 * such as tests, would fail outside as well.
 */
const heldBack =
  /^.*(?:read-only file system|EROFS|network is unreachable|ENETUNREACH|EAI_AGAIN|could not resolve host|name resolution|name or service not known).*$/im;

const line =
  "\n[The command failed in the sandbox. The user allowed to run it again outside of it. This is the second run.]\n";

/** One terminal for both runs. How it ended is not told while the question is open; `kill` and `release` withdraw it. */
export function offeredAgain(first: TerminalHandle, limit: number, again: RunAgain): TerminalHandle {
  const withdrawn = new AbortController();
  let second: TerminalHandle | undefined;
  let exitStatus: ExitStatus | undefined;
  const follow = async (): Promise<ExitStatus> => {
    const status = await first.waitForExit();
    try {
      const why = failureOf(status, (await first.output()).output);
      if (why !== undefined && !withdrawn.signal.aborted) second = await again(why, withdrawn.signal);
      return (await second?.waitForExit()) ?? status;
    } catch {
      // it was refused or withdrawn, or could not be started
      return status;
    }
  };
  const ended = follow().then((status) => {
    exitStatus = status;
    return status;
  });
  const release = async (): Promise<void> => {
    withdrawn.abort();
    await Promise.all([first.release(), second?.release()]);
  };
  return {
    terminalId: first.terminalId,
    async output() {
      const [before, after] = await Promise.all([first.output(), second?.output()]);
      const tail = new ByteTail(limit);
      const texts = after === undefined ? [before.output] : [before.output, line, after.output];
      for (const text of texts) tail.push(Buffer.from(text));
      const truncated = before.truncated || after?.truncated === true || tail.dropped > 0;
      return { output: tail.text(), truncated, ...optional({ exitStatus }) };
    },
    async waitForExit({ signal } = {}) {
      signal?.throwIfAborted();
      return abortable(signal, ended);
    },
    async kill() {
      withdrawn.abort();
      await Promise.all([first.kill(), second?.kill()]);
      await ended;
    },
    release,
    [Symbol.asyncDispose]: release,
  };
}

/** Facts only: nobody knows whether the sandbox was the cause. */
function failureOf({ exitCode }: ExitStatus, output: string): string | undefined {
  const [said] = heldBack.exec(output) ?? [];
  if (typeof exitCode !== "number" || exitCode === 0 || said === undefined) return undefined;
  return `in the sandbox it ended with exit code ${exitCode} and printed "${shownLine(said)}"`;
}
