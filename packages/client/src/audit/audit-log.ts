// Writes the audit log of this process: what was decided and done for agents, never contents or secrets.

import { randomBytes } from "node:crypto";
import { closeSync, constants, mkdirSync, openSync, writeSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import { argumentText } from "@parley/acp/internal";
import { processKey } from "@parley/acp/node";
import { streamRedactor } from "@parley/acp/redact";
import { type AuditFacts, auditHeader, sealedLine } from "./audit-entry.ts";
import { type AuditBounds, auditFiles, auditKey, HeadWriter, pruneAudit, signature } from "./audit-files.ts";

export interface AuditLog {
  readonly path: string;
  /** Before the effect. Throws where it cannot be written. The number is what the outcome refers to. */
  write(facts: AuditFacts): number;
  /** Says that nothing was cut off. */
  close(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Limits of an audit folder, and known secrets. */
export interface AuditOptions extends AuditBounds {
  readonly now?: () => number;
  /** Secrets that are known from elsewhere: no line has them. */
  readonly secrets?: Iterable<string>;
}

/**
 * The log of this process in the folder. Its file is made with its first line. Throws a TypeError for a folder that is not
 * absolute.
 */
export function auditLog(
  folder: string,
  { now = Date.now, secrets = [], ...bounds }: AuditOptions = {},
): AuditLog {
  if (typeof folder !== "string" || !isAbsolute(folder))
    throw new TypeError(`auditLog: the folder must be an absolute path, got ${argumentText(folder)}`);
  const redactor = streamRedactor(secrets);
  const started = performance.now();
  const stamp = new Date(now()).toISOString();
  const time = stamp.replaceAll(/[-:]/g, "").slice(0, 15);
  const name = `${time}-${processKey()}-${randomBytes(3).toString("hex")}.ndjson`;
  const path = join(folder, name);
  let [seq, previous, isClosed] = [0, "", false];
  let opened: ReturnType<typeof openFile> | undefined;
  let failure: unknown;

  const append = (fields: object): number => {
    if (failure !== undefined) throw failure;
    const body = JSON.stringify(fields);
    opened ??= openFile(folder, path);
    const { file, key, head } = opened;
    const line = signature(key, body, previous);
    try {
      writeWhole(file, sealedLine(body, line));
      head.write({ seq, line });
    } catch (error) {
      // half a line may be there: none can follow it
      failure = error;
      throw error;
    }
    previous = line;
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
      opened.head.remove();
      pruneAudit(path, opened.key, bounds);
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
  const key = auditKey(folder);
  const head = new HeadWriter(path, key);
  return { key, head, file: openSync(path, O_APPEND | O_CREAT | O_EXCL | O_WRONLY, 0o600) };
}

function writeWhole(file: number, line: string): void {
  const bytes = Buffer.from(line);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}
