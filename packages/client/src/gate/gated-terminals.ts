// The terminals of a session behind the gate.

import { existsSync, readFileSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { TerminalHandle, Terminals } from "@parley/acp";
import { extensionIn, sandboxKey } from "@parley/acp/extensions";
import { optional } from "@parley/acp/jsonrpc";
import type { CreateTerminalOptions, ExitStatus } from "@parley/acp/model";
import { type LocalTerminals, localFiles, localTerminals } from "@parley/acp/node";
import { pathsInCommand } from "../rules/command-paths.ts";
import { commandSubject, type ReadCommand, readCommand } from "../subjects/command-subject.ts";
import { joinWords } from "../subjects/command-words.ts";
import type { RuleSubject } from "../subjects/subject.ts";
import type { GatedSandbox } from "./command-sandbox.ts";
import type { Effects, Prepared } from "./effects.ts";
import type { GateOptions } from "./gate-options.ts";
import { contentHash, type GateState, sessionEnded } from "./gate-state.ts";
import { holdDirectory } from "./held-directory.ts";
import { offeredAgain, type RunAgain } from "./offered-again.ts";

/** Of `localTerminals`. */
const defaultLimit = 1024 * 1024;
const shell = process.platform === "win32" ? ["cmd.exe", "/d", "/s", "/c"] : ["/bin/sh", "-c"];

/** Rejects with RequestError "permission_denied" where it is not permitted, else as `localTerminals` does. */
export interface GatedTerminals extends Terminals {
  /** Prepares a command without starting it, to decide about one that somebody else starts. */
  prepare(given: CreateTerminalOptions): Promise<Prepared<TerminalHandle>>;
  close(): Promise<void>;
}

/** Without a sandbox commands run as they are. */
export function gatedTerminals(
  state: GateState,
  effects: Effects,
  options: GateOptions,
  sandboxOf?: GatedSandbox["open"],
): GatedTerminals {
  const opened = new Map<boolean, LocalTerminals>();
  const closing = new AbortController();
  /** Commands that were offered again and refused: once is enough. */
  const declined = new Set<string>();
  let wasUsed = false;
  const local = (isSandboxed: boolean): LocalTerminals => {
    if (closing.signal.aborted) throw sessionEnded();
    const terminals =
      opened.get(isSandboxed) ??
      localTerminals({
        cwd: state.session.cwd,
        env: environmentChanges(options.env),
        ...(isSandboxed && sandboxOf !== undefined
          ? { wrap: async (command) => (await sandboxOf()).wrap(command) }
          : {}),
      });
    opened.set(isSandboxed, terminals);
    return terminals;
  };

  const prepare = async (given: CreateTerminalOptions, why?: string): Promise<Prepared<TerminalHandle>> => {
    const { command, args = [], env = {} } = given;
    const directory = await directoryOf(state, given.cwd ?? state.session.cwd);
    const isLine = isShellLine(command, args, directory);
    const asked = [command, isLine ? undefined : args, directory, env] as const;
    const leaves = sandboxOf !== undefined && extensionIn(given._meta, sandboxKey) === "off";
    wasUsed ||= !leaves;
    const sandbox = leaves ? undefined : await sandboxOf?.();
    const profile = (await sandbox?.isAvailable()) ? sandbox?.profile : undefined;
    const subject: RuleSubject = {
      ...commandSubject("op", ...asked),
      ...optional({ sandbox: profile }),
      ...(leaves ? { leaves } : {}),
    };
    const performed = performedCommand(
      readCommand(...asked),
      isLine ? [...shell, command] : [command, ...args],
    );
    let started: TerminalHandle | undefined;
    return {
      subject,
      ...optional({ why }),
      look: () => ({
        stamp: stampOfFiles(pathsInCommand(subject, directory) ?? likelyPaths(subject, directory)),
        shown: Object.keys(performed.env).length === 0 ? {} : { env: performed.env },
      }),
      async run() {
        // a sandbox resolves its directory inside
        if (profile !== undefined) {
          const first = await local(true).create({ ...given, ...performed });
          started = first;
          if (!effects.authority.hasPerson(state)) return first;
          return offeredAgain(first, given.outputByteLimit ?? defaultLimit, runAgain(given, subject));
        }
        const held = holdDirectory(performed.cwd);
        try {
          started = await local(false).create({ ...given, ...performed, cwd: held.path });
          return started;
        } finally {
          held.release();
        }
      },
      ended: async () => endText(await started?.waitForExit()),
    };
  };

  const runAgain =
    (given: CreateTerminalOptions, subject: RuleSubject): RunAgain =>
    async (why, withdrawn) => {
      const key = JSON.stringify(subject);
      if (declined.has(key)) return undefined;
      declined.add(key);
      const signal = AbortSignal.any([withdrawn, closing.signal]);
      const outside = { ...given, signal, _meta: { ...given._meta, [sandboxKey]: "off" } };
      const second = await effects.perform(state, subject, () => prepare(outside, why), { signal });
      declined.delete(key);
      return second;
    };

  const wanted = ({ command, args, cwd = state.session.cwd }: CreateTerminalOptions) =>
    commandSubject("op", command, args, cwd);

  return {
    prepare: (given) => prepare(given),
    create: (given) => effects.perform(state, wanted(given), () => prepare(given), given),
    async close() {
      closing.abort();
      await Promise.all([...opened.values()].map((terminals) => terminals.close()));
      if (wasUsed) await (await sandboxOf?.())?.close();
    },
  };
}

/**
 * What was decided about is what is done: a line that was read as words in a directory is those words there, whatever
 * its links lead to by now. `whole` ends in the line, where there is one.
 */
function performedCommand({ argv, cwd, env }: ReadCommand, whole: readonly string[]) {
  if (argv === undefined || argv.join("\0") === whole.join("\0")) return { ...commandOf(whole), cwd, env };
  const line = process.platform === "win32" ? argv.join(" ") : joinWords(argv);
  return { ...commandOf([...whole.slice(0, -1), line]), cwd, env };
}

function endText({ exitCode, signal }: ExitStatus = {}): string | undefined {
  if (typeof signal === "string") return `ended by ${signal}`;
  return typeof exitCode === "number" ? `exit code ${exitCode}` : undefined;
}

function commandOf([command = "", ...args]: readonly string[]) {
  return { command, args };
}

/** Arguments are missing, there is a blank, and no program is called that. */
function isShellLine(command: string, args: readonly string[], cwd: string): boolean {
  return (
    args.length === 0 &&
    /\s|[|&;<>()$`]/.test(command.trim()) &&
    !existsSync(isAbsolute(command) ? command : `${cwd}/${command}`)
  );
}

/** Where it leads; "outside_workspace" outside the roots. */
async function directoryOf({ folders }: GateState, path: string): Promise<string> {
  const files = localFiles({ roots: folders });
  try {
    return await files.realPath(path);
  } finally {
    await files.close();
  }
}

/** What differs from ours; what is ours alone never reaches a command. */
function environmentChanges(wanted: GateOptions["env"]): Record<string, string | undefined> {
  const changes: Record<string, string | undefined> = {};
  for (const name of Object.keys(process.env)) {
    if (wanted === undefined ? name.startsWith("PARLEY_") : !(name in wanted)) changes[name] = undefined;
  }
  return { ...changes, ...wanted };
}

/** Of more files, and of larger ones, only what the system says of them is compared. */
const maxFiles = 64;
const maxBytes = 4 * 1024 * 1024;

/** Changes with the content of each file. Canonical paths. */
function stampOfFiles(paths: readonly string[]): string {
  return contentHash(paths.map((path, at) => `${path}\0${stampOf(path, at < maxFiles)}`).join("\0"));
}

/** Of a line that cannot be taken apart. */
function likelyPaths({ argv, shellLine }: RuleSubject, directory: string): readonly string[] {
  const words = shellLine?.split(/[\s;|&<>()'"`=]+/) ?? argv ?? [];
  return words.slice(0, 1_000).flatMap((word) => {
    const path = resolve(directory, word);
    return existsSync(path) ? [path] : [];
  });
}

function stampOf(path: string, isRead: boolean): string {
  try {
    const stat = statSync(path, { bigint: true });
    if (!stat.isFile()) return "no file";
    const { ino, dev, size, mtimeNs, ctimeNs } = stat;
    return isRead && size <= maxBytes
      ? contentHash(readFileSync(path))
      : `${dev}/${ino}/${size}/${mtimeNs}/${ctimeNs}`;
  } catch {
    return "unreadable";
  }
}
