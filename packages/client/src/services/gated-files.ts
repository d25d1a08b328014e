// The files of a session: every read and write is decided on the path that it really leads to, and done to that
// path or not at all, whatever links are put in its way in between.

import {
  errorCodes,
  type Files,
  type ReadTextOptions,
  RequestError,
  type WriteTextOptions,
} from "@parley/acp";
import { type LocalFiles, localFiles } from "@parley/acp/node";
import { contentHash, type GateSession } from "../policy/gate-session.ts";
import type { Effects, Prepared } from "./effects.ts";
import { decodeFrom, encodeTo } from "./encodings.ts";
import { linesOf } from "./line-range.ts";
import type { ServiceOptions } from "./service-options.ts";

export interface GatedReadOptions extends ReadTextOptions {
  /** A label such as "windows-1252". Default: what the user says of the file, else UTF-8. */
  readonly encoding?: string;
}

export interface GatedWriteOptions extends WriteTextOptions {
  readonly encoding?: string;
}

/** Rejects with -32060 where it is not permitted, else as `localFiles` does. */
export interface GatedFiles extends Files {
  readText(path: string, options?: GatedReadOptions): Promise<string>;
  writeText(path: string, content: string, options?: GatedWriteOptions): Promise<void>;
  close(): Promise<void>;
}

/** Larger ones are replaced without showing what was there. */
const maxShown = 1024 * 1024;

export function gatedFiles(state: GateSession, effects: Effects, options: ServiceOptions): GatedFiles {
  const roots = [state.session.cwd, ...state.session.roots, ...(options.extraRoots ?? [])];
  const opened: { local?: LocalFiles; observer?: LocalFiles } = {};
  let isClosed = false;
  // on first use: a session whose agent never asks for a file need not have a directory
  const local = (): LocalFiles => {
    if (isClosed)
      throw new RequestError(errorCodes.unavailable, "the session has ended", { reason: "unavailable" });
    opened.local ??= localFiles({ roots });
    return opened.local;
  };
  // what we look at for a person is not what the agent has seen
  const observer = (): LocalFiles => {
    opened.observer ??= localFiles({ roots, expectUnchanged: false, maxReadBytes: maxShown });
    return opened.observer;
  };
  const encodingFor = (path: string, asked: string | undefined) => asked ?? options.encodingOf?.(path);

  const prepareRead = async (path: string, given: GatedReadOptions): Promise<Prepared<string>> => {
    const canonical = await local().locate(path);
    return {
      subject: { origin: "op", operation: "read", path: canonical },
      async run() {
        const unsaved = await options.overlay?.read(canonical);
        if (unsaved !== undefined) return linesOf(unsaved, given);
        const { signal, line, limit } = given;
        const reading = { followLinks: false, ...(signal === undefined ? {} : { signal }) };
        const encoding = encodingFor(canonical, given.encoding);
        if (encoding !== undefined) {
          const bytes = await local().readBytes(canonical, reading);
          return linesOf(decodeFrom(bytes, encoding, canonical), given);
        }
        return local().readText(canonical, {
          ...reading,
          ...(line === undefined ? {} : { line }),
          ...(limit === undefined ? {} : { limit }),
        });
      },
    };
  };

  const prepareWrite = async (
    path: string,
    content: string,
    given: GatedWriteOptions,
  ): Promise<Prepared<void>> => {
    const canonical = await local().locate(path);
    const encoding = encodingFor(canonical, given.encoding);
    return {
      subject: { origin: "op", operation: "write", path: canonical },
      content,
      async look() {
        const { text, version } = await before(observer(), canonical, encoding, options);
        const oldText = text === undefined ? {} : { oldText: text };
        return { stamp: version, shown: { diff: { path: canonical, ...oldText, newText: content } } };
      },
      async run(stamp) {
        if (await options.overlay?.write?.(canonical, content)) return;
        const { signal } = given;
        const writing = {
          followLinks: false,
          ...(signal === undefined ? {} : { signal }),
          // what a person saw is what is replaced
          ...(stamp === undefined || stamp.startsWith(bytesStamp) ? {} : { expected: stamp }),
        };
        if (encoding === undefined) await local().writeText(canonical, content, writing);
        else await local().writeBytes(canonical, encodeTo(content, encoding, canonical), writing);
      },
    };
  };

  return {
    canRead: true,
    canWrite: true,
    readText: (path, given = {}) =>
      effects.perform(
        state,
        { origin: "op", operation: "read", path },
        () => prepareRead(path, given),
        given.signal,
      ),
    writeText: (path, content, given = {}) =>
      effects.perform(
        state,
        { origin: "op", operation: "write", path },
        () => prepareWrite(path, content, given),
        given.signal,
      ),
    async close() {
      isClosed = true;
      await Promise.all([opened.local?.close(), opened.observer?.close()]);
    },
  };
}

interface Before {
  readonly text?: string;
  /** "absent": there is nothing. Undefined: nobody knows. */
  readonly version?: string;
}

/** Where a file is no UTF-8 its bytes are compared here, and not by whoever writes. */
const bytesStamp = "bytes ";

/** What a write would replace. */
async function before(
  observer: LocalFiles,
  path: string,
  encoding: string | undefined,
  { overlay }: ServiceOptions,
): Promise<Before> {
  const unsaved = await overlay?.read(path);
  const shown = unsaved === undefined ? {} : { text: unsaved };
  try {
    if (encoding !== undefined) {
      const bytes = await observer.readBytes(path, { followLinks: false });
      const version = `${bytesStamp}${contentHash(bytes)}`;
      return { text: decodeFrom(bytes, encoding, path), version, ...shown };
    }
    const { text, version } = await observer.read(path, { followLinks: false });
    return { text, version, ...shown };
  } catch (error) {
    if (error instanceof RequestError && error.code === errorCodes.notFound)
      return { version: "absent", ...shown };
    // too large, not text, a directory: writing will say so, or replaces it unseen
    return shown;
  }
}
