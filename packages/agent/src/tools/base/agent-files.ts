// Reads and writes session files: through the client where possible, for unsaved text, else on disk; only inside the roots.

import { type Files, RequestError } from "@parley/acp";
import { contentVersion, formatIn } from "@parley/acp/internal/node";
import { optional } from "@parley/acp/jsonrpc";
import type { FileFacts, FolderEntry, LocalFiles } from "@parley/acp/node";
import { ToolError } from "./tool.ts";

/** The text of a file and its version. */
export interface TextWithVersion {
  /** The text, without a byte order mark. */
  readonly text: string;
  /** Changes with the file; pass it to `write` as `expected`. */
  readonly version: string;
}

const mark = "\ufeff";

function withoutMark(text: string): string {
  return text.startsWith(mark) ? text.slice(1) : text;
}

/** The files of a session: the editor's unsaved text where the client supports it, else the disk. */
export interface AgentFiles {
  /** The text from the editor or disk, with a version that changes with it. */
  read(path: string, options?: { readonly signal?: AbortSignal }): Promise<TextWithVersion>;
  /**
   * Writes a file and returns its new version. Throws ToolError unless the file has the version `expected`, or does not
   * exist for "absent".
   */
  write(
    path: string,
    content: string,
    options: { readonly expected: string; readonly signal?: AbortSignal },
  ): Promise<string>;
  /**
   * Whether the error of a read means that the file does not exist. It checks the disk too, because clients use many
   * codes for that.
   */
  isAbsent(path: string, error: unknown): Promise<boolean>;
  /** Reads any file from disk, such as an image. */
  readBytes(path: string, options?: { readonly signal?: AbortSignal }): Promise<Uint8Array>;
  /** Returns the kind, size and time of a file on disk. */
  stat(path: string): Promise<FileFacts>;
  /** Resolves all links of a path, which need not exist. */
  locate(path: string): Promise<string>;
  /** Lists a directory by name. */
  list(path: string): Promise<readonly FolderEntry[]>;
  /** Removes a file or an empty directory; with `recursive` any directory. */
  remove(path: string, options?: { readonly recursive?: boolean }): Promise<void>;
  /** Moves a file or directory. Fails if the new path exists. */
  move(from: string, to: string): Promise<void>;
  /** Whether the editor has unsaved text of the file. False when the client has no files. */
  isUnsaved(path: string, options?: { readonly signal?: AbortSignal }): Promise<boolean>;
}

export class SessionFiles implements AgentFiles {
  /** Files inside the session's roots. */
  readonly #local: LocalFiles;
  readonly #client: Files | undefined;
  /** Returns the files for a path outside the roots that may be read. */
  readonly #readable: (path: string) => LocalFiles | undefined;
  readonly #writes: (path: string, content: string) => Promise<void>;
  readonly #followLinks: boolean;

  /** `writes` is told of each file before it is written. Without `followLinks` a link is an error. */
  constructor(
    local: LocalFiles,
    client: Files | undefined,
    readable: (path: string) => LocalFiles | undefined,
    writes: (path: string, content: string) => Promise<void>,
    followLinks = true,
  ) {
    this.#followLinks = followLinks;
    this.#local = local;
    this.#client = client;
    this.#readable = readable;
    this.#writes = writes;
  }

  #at(path: string): LocalFiles {
    return this.#readable(path) ?? this.#local;
  }

  async read(path: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<TextWithVersion> {
    const options = optional({ signal });
    const readable = this.#readable(path);
    const editor = this.#client;
    if (readable !== undefined || editor?.canRead !== true) {
      return (readable ?? this.#local).read(path, { ...options, followLinks: this.#followLinks });
    }
    await this.#local.realPath(path);
    // Uses the given name, since an editor knows its buffers by the names that the user opened.
    // Editors differ in what they do with a byte order mark; tools never see it.
    const given = await editor.readText(path, options);
    const text = withoutMark(given);
    const shown = contentVersion(Buffer.from(given));
    // written to disk, both the text of the editor and the file must be as they were
    return { text, version: editor.canWrite ? shown : `${shown} ${await this.#diskVersion(path, options)}` };
  }

  async write(
    path: string,
    content: string,
    { expected, ...given }: { readonly expected: string; readonly signal?: AbortSignal },
  ): Promise<string> {
    // this may wait for long, so all checks come after it
    await this.#writes(path, content);
    const editor = this.#client;
    if (editor?.canRead === true || editor?.canWrite === true) await this.#expect(path, expected, given);
    if (editor?.canWrite === true) {
      // An editor that returned the byte order mark expects it in the new text. Other editors restore it themselves.
      const kept = editor.canRead && formatIn(expected)?.byteOrderMark === true ? mark : "";
      await editor.writeText(path, kept + content, given);
      // an editor may change line ends, so read the version back
      return this.#versionNow(path, given);
    }
    const onDisk = expected.split(" ").at(-1) ?? expected;
    const { version } = await this.#local
      .write(path, content, { ...given, expected: onDisk })
      .catch(async (error) => {
        if (!(error instanceof RequestError) || error.kind !== "conflict") throw error;
        throw changed(path, expected, (await this.#isMissing(path)) ? "absent" : "other");
      });
    return editor?.canRead === true ? this.#versionNow(path, given) : version;
  }

  /** Throws ToolError unless the file has the version. */
  async #expect(path: string, expected: string, options: { readonly signal?: AbortSignal }): Promise<void> {
    // a client would report the read of a missing file as an error
    const isNew = expected === "absent" && (await this.#isMissing(path));
    const now = isNew ? "absent" : await this.#versionNow(path, options);
    if (now !== expected) throw changed(path, expected, now);
  }

  async #versionNow(path: string, options: { readonly signal?: AbortSignal }): Promise<string> {
    try {
      return (await this.read(path, options)).version;
    } catch (error) {
      if (await this.isAbsent(path, error)) return "absent";
      throw error;
    }
  }

  async isAbsent(path: string, error: unknown): Promise<boolean> {
    if (isNotFound(error)) return true;
    if (!(error instanceof RequestError) || error.kind === "outside_workspace") return false;
    return this.#isMissing(path);
  }

  #isMissing(path: string): Promise<boolean> {
    return this.#local.stat(path).then(() => false, isNotFound);
  }

  async #diskVersion(path: string, options: { readonly signal?: AbortSignal }): Promise<string> {
    try {
      return (await this.#local.read(path, options)).version;
    } catch (error) {
      if (isNotFound(error)) return "absent";
      throw error;
    }
  }

  readBytes(path: string, options: { readonly signal?: AbortSignal } = {}): Promise<Uint8Array> {
    return this.#at(path).readBytes(path, { ...options, followLinks: this.#followLinks });
  }

  stat(path: string): Promise<FileFacts> {
    return this.#at(path).stat(path);
  }

  locate(path: string): Promise<string> {
    return this.#at(path).realPath(path);
  }

  list(path: string): Promise<readonly FolderEntry[]> {
    return this.#at(path).list(path);
  }

  remove(path: string, options: { readonly recursive?: boolean } = {}): Promise<void> {
    return this.#local.remove(path, options);
  }

  async move(from: string, to: string): Promise<void> {
    // what is not a text cannot be compared later
    const text = await this.#local.readText(from).catch(() => undefined);
    if (text !== undefined) await this.#writes(to, text);
    return this.#local.move(from, to);
  }

  async isUnsaved(path: string, options: { readonly signal?: AbortSignal } = {}): Promise<boolean> {
    if (this.#client?.canRead !== true) return false;
    try {
      const [shown, saved] = await Promise.all([
        this.read(path, options).then(({ text }) => text),
        this.#local.readText(path, options),
      ]);
      return shown.replaceAll("\r\n", "\n") !== saved.replaceAll("\r\n", "\n");
    } catch {
      // not a text, or not open in the client: nothing could be lost
      return false;
    }
  }
}

function changed(path: string, expected: string, now: string): ToolError {
  const what =
    now === "absent"
      ? "has been removed since it was read"
      : expected === "absent"
        ? "has been created in the meantime"
        : "has changed since it was read";
  return new ToolError(`${path} ${what}`, { advice: "read it again, then repeat the change" });
}

function isNotFound(error: unknown): boolean {
  return error instanceof RequestError && error.kind === "not_found";
}
