// Terminals that close with the test, and a wait for their output.

import type { TestContext } from "node:test";
import {
  type LocalTerminals,
  type LocalTerminalsOptions,
  localTerminals,
} from "../../src/node/terminals/local-terminals.ts";
import type { LocalTerminal } from "../../src/node/terminals/terminal.ts";

export interface TerminalProbe {
  readonly terminals: LocalTerminals;
  /** Starts a shell script. */
  sh(script: string, options?: { readonly outputByteLimit?: number }): Promise<LocalTerminal>;
  /** Resolves with the match when the output that was seen live matches, byte by byte as Latin-1. */
  until(terminal: LocalTerminal, pattern: RegExp): Promise<RegExpExecArray>;
}

export function probeTerminals(t: TestContext, options: Partial<LocalTerminalsOptions> = {}): TerminalProbe {
  const seen = new Map<string, string>();
  let progress = Promise.withResolvers<void>();
  const terminals = localTerminals({
    cwd: "/",
    ...options,
    onOutput(id, bytes) {
      seen.set(id, (seen.get(id) ?? "") + Buffer.from(bytes).toString("latin1"));
      progress.resolve();
      progress = Promise.withResolvers();
    },
  });
  t.after(() => terminals.close());
  return {
    terminals,
    sh: (script, more) => terminals.create({ command: "/bin/sh", args: ["-c", script], ...more }),
    async until({ terminalId }, pattern) {
      for (;;) {
        const match = pattern.exec(seen.get(terminalId) ?? "");
        if (match !== null) return match;
        await progress.promise;
      }
    },
  };
}
