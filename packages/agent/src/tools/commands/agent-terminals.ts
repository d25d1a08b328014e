// Commands of a session: in the client's terminals where it has them, which shows them itself, else on this
// machine, each in a process group that ends with it.

import type { CreateTerminalOptions, TerminalHandle, Terminals } from "@parley/acp";
import { localTerminals } from "@parley/acp/node";
import type { AgentTerminals } from "../base/tool.ts";

export interface LocalCommands extends AgentTerminals {
  /** Ends whatever still runs. */
  close(): Promise<void>;
}

export function clientCommands(terminals: Terminals): AgentTerminals {
  return { isClient: true, create: (options) => terminals.create(options) };
}

/** Whoever calls it closes it. */
export function localCommands(options: { readonly cwd: string }): LocalCommands {
  const listeners = new Map<string, (bytes: Uint8Array) => void>();
  /** Output of commands whose start nobody has been told of yet. */
  const early = new Map<string, Uint8Array[]>();
  let starting = 0;
  const terminals = localTerminals({
    cwd: options.cwd,
    onOutput(terminalId, bytes) {
      const listener = listeners.get(terminalId);
      if (listener !== undefined) listener(bytes);
      else if (starting > 0) early.set(terminalId, [...(early.get(terminalId) ?? []), Buffer.from(bytes)]);
    },
  });
  return {
    isClient: false,
    close: () => terminals.close(),
    async create(
      given: CreateTerminalOptions,
      onOutput?: (bytes: Uint8Array) => void,
    ): Promise<TerminalHandle> {
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
