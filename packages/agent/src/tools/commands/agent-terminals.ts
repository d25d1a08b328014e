// Runs commands in the client's terminals, or on this machine in process groups that end with the session.

import type { Terminals } from "@parley/acp";
import { localTerminals } from "@parley/acp/node";
import type { AgentTerminals } from "../base/tool.ts";

export function clientCommands(terminals: Terminals): AgentTerminals {
  return { isClient: true, create: (options) => terminals.create(options) };
}

/** `close` ends all running commands. */
export function localCommands(cwd: string): AgentTerminals & { close(): Promise<void> } {
  const listeners = new Map<string, (bytes: Uint8Array) => void>();
  /** Output that arrives before `create` returns. */
  const early = new Map<string, Uint8Array[]>();
  let starting = 0;
  const terminals = localTerminals({
    cwd,
    onOutput(terminalId, bytes) {
      const listener = listeners.get(terminalId);
      if (listener !== undefined) listener(bytes);
      else if (starting > 0) early.set(terminalId, [...(early.get(terminalId) ?? []), Buffer.from(bytes)]);
    },
  });
  return {
    isClient: false,
    close: () => terminals.close(),
    async create(given, onOutput) {
      starting += 1;
      try {
        const terminal = await terminals.create(given);
        const { terminalId } = terminal;
        for (const bytes of early.get(terminalId) ?? []) onOutput?.(bytes);
        listeners.set(terminalId, onOutput ?? (() => undefined));
        return {
          terminalId,
          output: () => terminal.output(),
          waitForExit: (waiting) => terminal.waitForExit(waiting),
          kill: () => terminal.kill(),
          release: () => terminal.release().finally(() => listeners.delete(terminalId)),
        };
      } finally {
        starting -= 1;
        if (starting === 0) early.clear();
      }
    },
  };
}
