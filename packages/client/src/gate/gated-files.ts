// The files of a session behind the gate.

import { type Files, RequestError } from "@parley/acp";
import { bytesFromText, isByteEncoding, shownText, textFromBytes } from "@parley/acp/internal";
import { sliceLines } from "@parley/acp/internal/node";
import { optional } from "@parley/acp/jsonrpc";
import type { ReadTextOptions, WriteTextOptions } from "@parley/acp/model";
import { type LocalFiles, localFiles } from "@parley/acp/node";
import type { FileOperation, RuleSubject } from "../subjects/subject.ts";
import type { Effects, Look, Prepared } from "./effects.ts";
import type { GateOptions } from "./gate-options.ts";
import { type GateState, sessionEnded } from "./gate-state.ts";

/** Rejects with RequestError "permission_denied" where it is not permitted, else as `localFiles` does. */
export interface GatedFiles extends Files {
  /** Prepares a read or a write without performing it, to decide about one that somebody else performs. */
  prepareRead(path: string, given: ReadTextOptions): Promise<Prepared<string>>;
  prepareWrite(path: string, content: string, given: WriteTextOptions): Promise<Prepared<void>>;
  close(): Promise<void>;
}

/** Larger ones are replaced without showing what was there. */
const maxShown = 1024 * 1024;

/** `writes` is told of each file before it is written. */
export function gatedFiles(
  state: GateState,
  effects: Effects,
  { overlay, beforeWrite }: GateOptions,
  writes?: (path: string, content: string) => Promise<void>,
): GatedFiles {
  const opened = new Map<"agent" | "person", LocalFiles>();
  let isClosed = false;
  // on first use: a session whose agent never asks for a file need not have a directory
  const files = (whose: "agent" | "person"): LocalFiles => {
    if (isClosed) throw sessionEnded();
    // what we look at for a person is not what the agent has seen
    const more = whose === "person" ? { expectUnchanged: false, maxReadBytes: maxShown } : {};
    const made = opened.get(whose) ?? localFiles({ roots: state.folders, ...more });
    opened.set(whose, made);
    return made;
  };

  const prepareRead = async (path: string, given: ReadTextOptions): Promise<Prepared<string>> => {
    const canonical = await files("agent").realPath(path);
    return {
      subject: fileSubject("read", canonical),
      async run() {
        const unsaved = await overlay?.read(canonical);
        const { signal, line, limit, encoding = "utf-8" } = given;
        if (unsaved !== undefined && encoding === "utf-8") return sliceLines(unsaved, given);
        const reading = { followLinks: false, ...optional({ signal, line, limit, encoding }) };
        return files("agent").readText(canonical, reading);
      },
    };
  };

  const prepareWrite = async (
    path: string,
    content: string,
    { signal, encoding, overwrite, createDirectories }: WriteTextOptions,
  ): Promise<Prepared<void>> => {
    const canonical = await files("agent").realPath(path);
    const written = writtenContent(content, encoding);
    return {
      subject: fileSubject("write", canonical),
      content: written,
      look: () => look(canonical, shownText(content, encoding)),
      async run(stamp) {
        await beforeWrite?.(canonical);
        if (typeof written === "string") {
          // before: a command that ends while it is written must not take it for its own
          await writes?.(canonical, written);
          // an editor replaces what it has
          if (overwrite !== false && (await overlay?.write?.(canonical, written))) return;
        }
        const how = { signal, encoding, overwrite, createDirectories, expected: stamp };
        const writing = { followLinks: false, ...optional(how) };
        await files("agent").writeText(canonical, content, writing);
      },
    };
  };

  /** The stamp is the version that a person is shown: "absent" where there is nothing, undefined where nobody knows. */
  const look = async (path: string, newText: string): Promise<Look> => {
    const unsaved = await overlay?.read(path);
    const onDisk = await files("person")
      .read(path, { followLinks: false })
      .catch((error: unknown) =>
        // too large, not text, a directory: writing will say so, or replaces it unseen
        error instanceof RequestError && error.kind === "not_found" ? { version: "absent" } : undefined,
      );
    const saved = onDisk !== undefined && "text" in onDisk ? onDisk.text : undefined;
    const diff = { path, ...optional({ oldText: unsaved ?? saved }), newText };
    return { stamp: onDisk?.version, shown: { diff } };
  };

  return {
    canRead: true,
    canWrite: true,
    prepareRead,
    prepareWrite,
    readText: (path, given = {}) =>
      effects.perform(state, fileSubject("read", path), () => prepareRead(path, given), given),
    writeText: (path, content, given = {}) =>
      effects.perform(state, fileSubject("write", path), () => prepareWrite(path, content, given), given),
    async close() {
      isClosed = true;
      await Promise.all([...opened.values()].map((each) => each.close()));
    },
  };
}

/** What will be in the file, however the request writes it down: its text, or the bytes that are no text. */
function writtenContent(content: string, encoding: WriteTextOptions["encoding"] = "utf-8") {
  const bytes = encoding === "utf-8" ? undefined : bytesFromText(content, encoding);
  // what stands for no bytes is refused when it is written
  if (bytes === undefined) return content;
  return (isByteEncoding(encoding) ? textFromBytes(bytes, "utf-8") : undefined) ?? bytes;
}

function fileSubject(operation: FileOperation, path: string): RuleSubject {
  return { origin: "op", operation, path };
}
