// The files of a session behind the gate.

import { type Files, RequestError } from "@parley/acp";
import { bytesFromText, isByteEncoding, optional, shownText, textFromBytes } from "@parley/acp/internal";
import type { ReadTextOptions, WriteTextOptions } from "@parley/acp/model";
import { type LocalFiles, localFiles } from "@parley/acp/node";
import type { Subject } from "../subjects/subject.ts";
import type { Effects, Prepared } from "./effects.ts";
import type { GateState } from "./gate-state.ts";
import { linesOf } from "./line-range.ts";
import type { ServiceOptions } from "./service-options.ts";

/** Rejects with RequestError "permission_denied" where it is not permitted, else as `localFiles` does. */
export interface GatedFiles extends Files {
  close(): Promise<void>;
}

/** Decides without doing anything. False: it is to be asked, and there is nobody to ask here. */
export interface DecidingFiles extends GatedFiles {
  decideRead(path: string, signal: AbortSignal): Promise<boolean>;
  decideWrite(path: string, content: string, signal: AbortSignal): Promise<boolean>;
}

/** Larger ones are replaced without showing what was there. */
const maxShown = 1024 * 1024;

/** `writes` is told of each file before it is written. */
export function gatedFiles(
  state: GateState,
  effects: Effects,
  options: ServiceOptions,
  writes?: (path: string, content: string) => Promise<void>,
): DecidingFiles {
  return new SessionFiles(state, effects, options, writes);
}

class SessionFiles implements DecidingFiles {
  readonly canRead = true;
  readonly canWrite = true;
  readonly #state: GateState;
  readonly #effects: Effects;
  readonly #options: ServiceOptions;
  readonly #roots: readonly string[];
  readonly #writes: ((path: string, content: string) => Promise<void>) | undefined;
  #local: LocalFiles | undefined;
  #observer: LocalFiles | undefined;
  #isClosed = false;

  constructor(
    state: GateState,
    effects: Effects,
    options: ServiceOptions,
    writes: ((path: string, content: string) => Promise<void>) | undefined,
  ) {
    this.#writes = writes;
    this.#state = state;
    this.#effects = effects;
    this.#options = options;
    this.#roots = [state.session.cwd, ...state.session.roots, ...(options.extraRoots ?? [])];
  }

  readText(path: string, given: ReadTextOptions = {}): Promise<string> {
    const prepare = () => this.#prepareRead(path, given);
    return this.#effects.perform(this.#state, fileSubject("read", path), prepare, given.signal);
  }

  writeText(path: string, content: string, given: WriteTextOptions = {}): Promise<void> {
    const prepare = () => this.#prepareWrite(path, content, given);
    return this.#effects.perform(this.#state, fileSubject("write", path), prepare, given.signal);
  }

  decideRead(path: string, signal: AbortSignal): Promise<boolean> {
    const prepare = () => this.#prepareRead(path, {});
    return this.#effects.decide(this.#state, fileSubject("read", path), prepare, signal);
  }

  decideWrite(path: string, content: string, signal: AbortSignal): Promise<boolean> {
    const prepare = () => this.#prepareWrite(path, content, {});
    return this.#effects.decide(this.#state, fileSubject("write", path), prepare, signal);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#local?.close(), this.#observer?.close()]);
  }

  // on first use: a session whose agent never asks for a file need not have a directory
  #files(): LocalFiles {
    if (this.#isClosed)
      throw new RequestError("unavailable", "the session has ended", { data: { reason: "unavailable" } });
    this.#local ??= localFiles({ roots: this.#roots });
    return this.#local;
  }

  async #prepareRead(path: string, given: ReadTextOptions): Promise<Prepared<string>> {
    const canonical = await this.#files().realPath(path);
    return { subject: fileSubject("read", canonical), run: () => this.#read(canonical, given) };
  }

  async #read(path: string, given: ReadTextOptions): Promise<string> {
    const { signal, line, limit, encoding = "utf-8" } = given;
    const unsaved = await this.#options.overlay?.read(path);
    if (unsaved !== undefined && encoding === "utf-8") return linesOf(unsaved, given);
    return this.#files().readText(path, {
      followLinks: false,
      ...optional({ signal, line, limit, encoding }),
    });
  }

  async #prepareWrite(path: string, content: string, given: WriteTextOptions): Promise<Prepared<void>> {
    const canonical = await this.#files().realPath(path);
    const { encoding } = given;
    const written = writtenContent(content, encoding);
    return {
      subject: fileSubject("write", canonical),
      content: written,
      look: () => this.#look(canonical, shownText(content, encoding)),
      run: (stamp) => this.#write(canonical, { content, written }, stamp, given),
    };
  }

  /** What a person is shown of a write. */
  async #look(path: string, content: string) {
    // what we look at for a person is not what the agent has seen
    this.#observer ??= localFiles({ roots: this.#roots, expectUnchanged: false, maxReadBytes: maxShown });
    const { text, version } = await before(this.#observer, path, this.#options);
    const diff = { path, ...optional({ oldText: text }), newText: content };
    return { stamp: version, shown: { diff } };
  }

  /** `stamp` is the version that a person was shown, and the one that is replaced. */
  async #write(
    path: string,
    { content, written }: { readonly content: string; readonly written: string | Uint8Array },
    stamp: string | undefined,
    { signal, encoding, overwrite }: WriteTextOptions,
  ): Promise<void> {
    if (typeof written === "string") {
      // before: a command that ends while it is written must not take it for its own
      await this.#writes?.(path, written);
      // an editor replaces what it has
      if (overwrite !== false && (await this.#options.overlay?.write?.(path, written))) return;
    }
    const writing = { followLinks: false, ...optional({ signal, encoding, overwrite, expected: stamp }) };
    await this.#files().writeText(path, content, writing);
  }
}

/** What will be in the file, however the request writes it down: its text, or the bytes that are no text. */
function writtenContent(content: string, encoding: WriteTextOptions["encoding"] = "utf-8") {
  const bytes = encoding === "utf-8" ? undefined : bytesFromText(content, encoding);
  // what stands for no bytes is refused when it is written
  if (bytes === undefined) return content;
  return (isByteEncoding(encoding) ? textFromBytes(bytes, "utf-8") : undefined) ?? bytes;
}

function fileSubject(operation: "read" | "write", path: string): Subject {
  return { origin: "op", operation, path };
}

interface Before {
  readonly text?: string;
  /** "absent": there is nothing. Undefined: nobody knows. */
  readonly version?: string;
}

/** The content that a write would replace. */
async function before(observer: LocalFiles, path: string, { overlay }: ServiceOptions): Promise<Before> {
  const unsaved = await overlay?.read(path);
  const shown = optional({ text: unsaved });
  try {
    const { text, version } = await observer.read(path, { followLinks: false });
    return { text, version, ...shown };
  } catch (error) {
    if (error instanceof RequestError && error.kind === "not_found") return { version: "absent", ...shown };
    // too large, not text, a directory: writing will say so, or replaces it unseen
    return shown;
  }
}
