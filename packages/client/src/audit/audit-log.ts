// Writes the audit log of this process: what was decided and done for agents, never contents or secrets.

import { randomBytes } from "node:crypto";
import { closeSync, constants, mkdirSync, openSync, writeSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import { argumentText } from "@parley/acp/internal";
import { checkOptions } from "@parley/acp/jsonrpc";
import { processKey } from "@parley/acp/node";
import { streamRedactor } from "@parley/acp/redact";
import { type AuditFacts, auditHeader, checkedLine } from "./audit-entry.ts";
import { type AuditBounds, auditFiles, LineCount, pruneAudit } from "./audit-files.ts";

/** The audit log of one process. */
export interface AuditLog {
  /** The path of its file. */
  readonly path: string;
  /** Writes a line, before the effect. Throws if it cannot be written. The outcome refers to the returned number. */
  write(facts: AuditFacts): number;
  /** Writes the last line, which shows that nothing was cut off. */
  close(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Limits of an audit folder, and known secrets. */
export interface AuditOptions extends AuditBounds {
  /** Returns the time in milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
  /** Secrets that are known from elsewhere: no line has them. */
  readonly secrets?: Iterable<string>;
}

/**
 * Opens the audit log of this process in a folder. Its file is created with the first line.
 *
 * @throws {TypeError} When the folder is not absolute.
 *
 * @example
 * import { auditLog } from "@parley/client/audit";
 *
 * await using log = auditLog("/home/me/.local/state/my-app/audit");
 * const intent = log.write({ kind: "intent", operation: "read", target: "/home/me/notes.txt" });
 * log.write({ kind: "outcome", of: intent, result: "done" });
 */
export function auditLog(folder: string, options: AuditOptions = {}): AuditLog {
  checkOptions("auditLog", options, auditKeys);
  const { now = Date.now, secrets = [], ...bounds } = options;
  if (typeof folder !== "string" || !isAbsolute(folder))
    throw new TypeError(`auditLog: the folder must be an absolute path, got ${argumentText(folder)}`);
  const redactor = streamRedactor(secrets);
  const started = performance.now();
  const stamp = new Date(now()).toISOString();
  const time = stamp.replaceAll(/[-:]/g, "").slice(0, 15);
  const name = `${time}-${processKey()}-${randomBytes(3).toString("hex")}.ndjson`;
  const path = join(folder, name);
  let [seq, isClosed] = [0, false];
  let opened: ReturnType<typeof openFile> | undefined;
  let failure: unknown;

  const append = (fields: object): number => {
    if (failure !== undefined) throw failure;
    const body = JSON.stringify(fields);
    opened ??= openFile(folder, path);
    const { file, count } = opened;
    try {
      writeWhole(file, checkedLine(body));
      count.write(seq + 1);
    } catch (error) {
      // half a line may be there: none can follow it
      failure = error;
      throw error;
    }
    return seq++;
  };
  const entry = (facts: AuditFacts) => ({
    seq,
    time: new Date(now()).toISOString(),
    after: Math.round(performance.now() - started),
    ...redactor.value(facts),
  });

  const close = (): void => {
    if (!isClosed && opened !== undefined) {
      append(entry({ kind: "end" }));
      closeSync(opened.file);
      opened.count.remove();
      pruneAudit(path, bounds);
    }
    isClosed = true;
  };

  return {
    path,
    write(facts) {
      if (isClosed) throw new Error(`the audit log ${path} has been closed`);
      if (seq === 0) {
        // so that a log that is gone is missed
        const before = auditFiles(folder).at(-1);
        append({
          ...auditHeader,
          pid: process.pid,
          time: stamp,
          ...(before === undefined ? {} : { before: basename(before) }),
        });
      }
      return append(entry(facts));
    },
    close,
    async [Symbol.asyncDispose]() {
      close();
    },
  };
}

function openFile(folder: string, path: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { O_APPEND, O_CREAT, O_EXCL, O_WRONLY } = constants;
  const count = new LineCount(path);
  return { count, file: openSync(path, O_APPEND | O_CREAT | O_EXCL | O_WRONLY, 0o600) };
}

function writeWhole(file: number, line: string): void {
  const bytes = Buffer.from(line);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

const auditKeys: Readonly<Record<keyof AuditOptions, true>> = {
  now: true,
  secrets: true,
  keepMs: true,
  keepBytes: true,
};
