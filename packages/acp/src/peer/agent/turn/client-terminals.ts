// The terminals of a client, by requests. What version 1 cannot say is done here, where that is simple.

import { withTimeout } from "../../../base/abortable.ts";
import { backgroundDeadline, type Deadline } from "../../../base/deadline.ts";
import { checkOptions } from "../../../base/known-options.ts";
import { optional } from "../../../base/objects.ts";
import { createTerminalKeys } from "../../../base/option-keys.gen.ts";
import {
  pidKey,
  pushesOutputKey,
  signalKey,
  terminalOutputMethod,
  timedOutKey,
  timeoutKey,
} from "../../../base/parley-extensions.ts";
import { understands } from "../../../edition/dialect.ts";
import { metaOf } from "../../../edition/wire-fields.ts";
import type { ExitStatus } from "../../../model/content.ts";
import type {
  CreateTerminalOptions,
  TerminalExit,
  TerminalHandle,
  TerminalSnapshot,
  Terminals,
} from "../../../model/services.ts";
import type { ReceivedOutput } from "../session/terminal-outputs.ts";
import { withKeys } from "./client-files.ts";
import { type ClientServices, notOnV1 } from "./client-services.ts";

interface TerminalHooks {
  created(terminal: TerminalHandle): void;
  released(terminal: TerminalHandle): void;
}

export function clientTerminals(services: ClientServices, hooks: TerminalHooks): Terminals {
  const { sessionId, ask } = services;
  return {
    async create(options: CreateTerminalOptions) {
      checkOptions("terminals.create", options, createTerminalKeys);
      const { command, args, env, cwd, outputByteLimit, timeoutMs, signal, _meta } = options;
      const { dialect } = services;
      const keepsTime = understands(dialect, timeoutKey);
      const limit = timeoutMs !== undefined && keepsTime ? { [timeoutKey]: timeoutMs } : undefined;
      const params = {
        sessionId,
        command,
        ...optional({
          args: args && [...args],
          env: env && Object.entries(env).map(([name, value]) => ({ name, value })),
          cwd,
          outputByteLimit,
          _meta: withKeys(_meta, limit),
        }),
      };
      const created = await ask("terminal/create", params, signal, (result) => {
        // output may follow at once, before this function goes on
        const { terminalId } = result as { terminalId: string }; // validated by the method's row
        const { _meta: said } = metaOf(result as object);
        const pushes = understands(dialect, terminalOutputMethod) || said?.[pushesOutputKey] === true;
        const output = pushes ? services.terminalOutput.open(terminalId) : undefined;
        return { terminalId, output, pid: pidOf(said?.[pidKey]) };
      });
      const opened = created as Opened; // what `receive` returned
      const terminal = terminalHandle(services, opened, hooks, keepsTime ? undefined : timeoutMs);
      hooks.created(terminal);
      return terminal;
    },
  };
}

interface Opened {
  readonly terminalId: string;
  readonly output: ReceivedOutput | undefined;
  readonly pid: number | undefined;
}

function pidOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** After `timeoutMs` the command is killed by us: version 1 has no such limit. */
function terminalHandle(
  services: ClientServices,
  { terminalId, output, pid }: Opened,
  hooks: TerminalHooks,
  timeoutMs: number | undefined,
): TerminalHandle {
  const { sessionId, ask } = services;
  const params = { sessionId, terminalId };
  let released: Promise<void> | undefined;
  let timer: Deadline;
  const wait = async (keys: object | undefined, signal: AbortSignal | undefined): Promise<TerminalExit> => {
    const meta = keys === undefined ? {} : { _meta: keys };
    const exit = (await ask("terminal/wait_for_exit", { ...params, ...meta }, signal)) as ExitStatus;
    const { _meta: { [timedOutKey]: timedOut, ...rest } = {} } = metaOf(exit);
    if (timedOut === true) return { timedOut: true };
    clearTimeout(timer);
    return Object.keys(rest).length === 0 ? withoutMeta(exit) : { ...exit, _meta: rest };
  };
  const terminal: TerminalHandle = {
    terminalId,
    ...optional({ pid }),
    async output(): Promise<TerminalSnapshot> {
      const snapshot = (await ask("terminal/output", params)) as {
        output: string;
        truncated: boolean;
        exitStatus?: ExitStatus | null;
      };
      const { output, truncated, exitStatus } = snapshot;
      const more = { ...optional({ exitStatus: exitStatus ?? undefined }), ...metaOf(snapshot) };
      return { output, truncated, ...more };
    },
    ...(output === undefined ? {} : { onOutput: (listener) => output.listen(listener) }),
    waitForExit({ signal, timeoutMs: limit } = {}): Promise<TerminalExit> {
      if (limit === undefined) return wait(undefined, signal);
      if (understands(services.dialect, timeoutKey)) return wait({ [timeoutKey]: limit }, signal);
      return waitHere(limit, signal, (until) => wait(undefined, until));
    },
    async kill({ signal } = {}) {
      if (signal !== undefined && !understands(services.dialect, signalKey))
        throw notOnV1(
          "kill",
          `place for the signal ${JSON.stringify(signal)}`,
          "call kill() without a signal",
        );
      const meta = signal === undefined ? {} : { _meta: { [signalKey]: signal } };
      await ask("terminal/kill", { ...params, ...meta });
    },
    release() {
      // a second release would be an error at the client, and tools release in finally blocks
      if (released === undefined) {
        clearTimeout(timer);
        services.terminalOutput.close(terminalId);
        hooks.released(terminal);
        released = ask("terminal/release", params).then(() => undefined);
      }
      return released;
    },
    [Symbol.asyncDispose]: () => terminal.release(),
  };
  if (timeoutMs !== undefined)
    timer = backgroundDeadline(timeoutMs, () => void terminal.kill().catch(() => undefined));
  return terminal;
}

function withoutMeta({ _meta: _, ...exit }: ExitStatus): ExitStatus {
  return exit;
}

/** Gives the wait up after a time, and cancels the request for it, which many clients ignore. The command goes on. */
async function waitHere(
  ms: number,
  signal: AbortSignal | undefined,
  wait: (until: AbortSignal) => Promise<TerminalExit>,
): Promise<TerminalExit> {
  const late = new AbortController();
  const exit = wait(signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]));
  const ended = await withTimeout(ms, exit);
  if (ended === undefined) late.abort();
  return ended ?? { timedOut: true };
}
