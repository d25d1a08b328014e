// The files of a session behind the gate.

import {
  errorCodes,
  type Files,
  type ReadTextOptions,
  RequestError,
  type WriteTextOptions,
} from "@parley/acp";
import { optional } from "@parley/acp/internal";
import { type LocalFiles, localFiles } from "@parley/acp/node";
import type { Effects, Prepared } from "./effects.ts";
import { decodeFrom, encodeTo } from "./encodings.ts";
import { contentHash, type GateState } from "./gate-state.ts";
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

export function gatedFiles(state: GateState, effects: Effects, options: ServiceOptions): GatedFiles {
  return new SessionFiles(state, effects, options);
}

class SessionFiles implements GatedFiles {
  readonly canRead = true;
  readonly canWrite = true;
  readonly #state: GateState;
  readonly #effects: Effects;
  readonly #options: ServiceOptions;
  readonly #roots: readonly string[];
  #local: LocalFiles | undefined;
  #observer: LocalFiles | undefined;
  #isClosed = false;

  constructor(state: GateState, effects: Effects, options: ServiceOptions) {
    this.#state = state;
    this.#effects = effects;
    this.#options = options;
    this.#roots = [state.session.cwd, ...state.session.roots, ...(options.extraRoots ?? [])];
  }

  readText(path: string, given: GatedReadOptions = {}): Promise<string> {
    const asked = { origin: "op", operation: "read", path } as const;
    return this.#effects.perform(this.#state, asked, () => this.#prepareRead(path, given), given.signal);
  }

  writeText(path: string, content: string, given: GatedWriteOptions = {}): Promise<void> {
    const asked = { origin: "op", operation: "write", path } as const;
    const prepare = () => this.#prepareWrite(path, content, given);
    return this.#effects.perform(this.#state, asked, prepare, given.signal);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#local?.close(), this.#observer?.close()]);
  }

  // on first use: a session whose agent never asks for a file need not have a directory
  #files(): LocalFiles {
    if (this.#isClosed)
      throw new RequestError(errorCodes.unavailable, "the session has ended", { reason: "unavailable" });
    this.#local ??= localFiles({ roots: this.#roots });
    return this.#local;
  }

  #encodingFor(path: string, asked: string | undefined): string | undefined {
    return asked ?? this.#options.encodingOf?.(path);
  }

  async #prepareRead(path: string, given: GatedReadOptions): Promise<Prepared<string>> {
    const canonical = await this.#files().locate(path);
    return {
      subject: { origin: "op", operation: "read", path: canonical },
      run: () => this.#read(canonical, given),
    };
  }

  async #read(path: string, given: GatedReadOptions): Promise<string> {
    const unsaved = await this.#options.overlay?.read(path);
    if (unsaved !== undefined) return linesOf(unsaved, given);
    const { signal, line, limit } = given;
    const reading = { followLinks: false, ...optional({ signal }) };
    const encoding = this.#encodingFor(path, given.encoding);
    if (encoding !== undefined) {
      const bytes = await this.#files().readBytes(path, reading);
      return linesOf(decodeFrom(bytes, encoding, path), given);
    }
    return this.#files().readText(path, {
      ...reading,
      ...optional({ line, limit }),
    });
  }

  async #prepareWrite(path: string, content: string, given: GatedWriteOptions): Promise<Prepared<void>> {
    const canonical = await this.#files().locate(path);
    const encoding = this.#encodingFor(canonical, given.encoding);
    return {
      subject: { origin: "op", operation: "write", path: canonical },
      content,
      look: () => this.#look(canonical, content, encoding),
      run: (stamp) => this.#write(canonical, content, { encoding, stamp, signal: given.signal }),
    };
  }

  /** What a person is shown of a write. */
  async #look(path: string, content: string, encoding: string | undefined) {
    // what we look at for a person is not what the agent has seen
    this.#observer ??= localFiles({ roots: this.#roots, expectUnchanged: false, maxReadBytes: maxShown });
    const { text, version } = await before(this.#observer, path, encoding, this.#options);
    const diff = { path, ...optional({ oldText: text }), newText: content };
    return { stamp: version, shown: { diff } };
  }

  async #write(path: string, content: string, { encoding, stamp, signal }: Writing): Promise<void> {
    if (await this.#options.overlay?.write?.(path, content)) return;
    const writing = {
      followLinks: false,
      ...optional({ signal }),
      // what a person saw is what is replaced
      ...(stamp === undefined || stamp.startsWith(bytesStamp) ? {} : { expected: stamp }),
    };
    if (encoding === undefined) await this.#files().writeText(path, content, writing);
    else await this.#files().writeBytes(path, encodeTo(content, encoding, path), writing);
  }
}

interface Writing {
  readonly encoding: string | undefined;
  /** What a person saw. */
  readonly stamp: string | undefined;
  readonly signal: AbortSignal | undefined;
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
  const shown = optional({ text: unsaved });
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
