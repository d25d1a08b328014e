// Removes known secrets from entries as they arrive, and holds back text that may be the beginning of one.

import { checkOptions } from "../base/known-options.ts";
import type { RedactorOptions } from "./redactor.ts";
import { fromBase64, toBase64 } from "./secret-patterns.ts";
import { Secrets } from "./secrets.ts";

/** A piece of a message or of a terminal's output. */
interface Piece {
  readonly stream: string;
  readonly text: string;
  /** Returns the same entry with another text. */
  with(text: string): object;
}

/** Redacts entries, or other items in their shape, as they arrive. */
export interface StreamRedactor<Item extends object> {
  /** Redacts text, an argument or a path. */
  text(text: string): string;
  /** Redacts a copy of any JSON value. */
  value<Value>(value: Value): Value;
  /** Takes an item and returns all items that are now complete. */
  next(item: Item): Item[];
  /** Returns the text that is still held back. Call it after the last item. */
  end(): Item[];
}

/** How secrets are replaced. */
export type StreamRedactorOptions = Pick<RedactorOptions, "mark">;

/**
 * Creates a redactor for a live stream, which replaces these secrets and nothing else. Text that may be the beginning
 * of a secret is held back until the next item shows whether it is one.
 *
 * @param secrets - The values to replace. Those of less than four characters, and words such as `true`, are left alone.
 *
 * @example
 * import type { Entry } from "@parley/acp";
 * import { streamRedactor } from "@parley/acp/redact";
 *
 * const clean = streamRedactor<Entry>(["hunter2-hunter2"]);
 *
 * export function log(entry: Entry): void {
 *   for (const each of clean.next(entry)) console.log(JSON.stringify(each));
 * }
 */
export function streamRedactor<Item extends object>(
  secrets: Iterable<string>,
  options: StreamRedactorOptions = {},
): StreamRedactor<Item> {
  checkOptions("streamRedactor", options, { mark: true });
  return new KnownSecretsRedactor(secrets, options);
}

class KnownSecretsRedactor<Item extends object> implements StreamRedactor<Item> {
  readonly #secrets: Secrets;
  /** The encodings of all secrets, by their first character. */
  readonly #forms: ReadonlyMap<string, readonly string[]>;
  readonly #longest: number;
  /** The held back end of the last piece. */
  #held: Piece | undefined;

  constructor(secrets: Iterable<string>, { mark }: StreamRedactorOptions) {
    this.#secrets = new Secrets(mark);
    this.#secrets.give("streamRedactor", secrets);
    const forms = this.#secrets.known.map(({ form }) => form);
    this.#forms = Map.groupBy(forms, (form) => form.charAt(0));
    this.#longest = forms[0]?.length ?? 0;
  }

  text(text: string): string {
    return this.#forms.size === 0 ? text : this.#secrets.cleanKnown(text);
  }

  value<Value>(value: Value): Value {
    // as: only strings change, to other strings
    return this.#forms.size === 0 ? value : (this.#every(value) as Value);
  }

  next(item: Item): Item[] {
    if (this.#forms.size === 0) return [item];
    const piece = pieceOf(item);
    const isNext = piece !== undefined && piece.stream === this.#held?.stream;
    const before = isNext ? [] : this.end();
    if (piece === undefined) return [...before, this.value(item)];
    const text = (isNext ? (this.#held?.text ?? "") : "") + piece.text;
    const clean = this.#secrets.cleanKnown(text);
    const tail = Math.max(this.#beginningAtEnd(clean), this.#secrets.encoded.beginningAtEnd(clean));
    this.#held = tail === 0 ? undefined : { ...piece, text: clean.slice(-tail) };
    const ready = tail === 0 ? clean : clean.slice(0, -tail);
    return ready === "" && text !== "" ? before : [...before, this.#itemWith(piece, ready)];
  }

  end(): Item[] {
    const held = this.#held;
    this.#held = undefined;
    return held === undefined ? [] : [this.#itemWith(held, held.text)];
  }

  #itemWith(piece: Piece, text: string): Item {
    // as: `with` returns the same item with another text
    return this.value(piece.with(text) as Item);
  }

  /** How many characters at the end may be the beginning of a secret. */
  #beginningAtEnd(text: string): number {
    for (let at = Math.max(0, text.length - this.#longest + 1); at < text.length; at++) {
      const forms = this.#forms.get(text.charAt(at));
      if (forms?.some((form) => form.startsWith(text.slice(at)))) return text.length - at;
    }
    return 0;
  }

  #every(value: unknown): unknown {
    if (typeof value === "string") return this.#secrets.cleanKnown(value);
    if (Array.isArray(value)) return value.map((item) => this.#every(item));
    if (typeof value !== "object" || value === null) return value;
    const clean = Object.entries(value).map(([key, item]) => [
      this.#secrets.cleanKnown(key),
      this.#every(item),
    ]);
    const { sessionUpdate, output } = value as { sessionUpdate?: unknown; output?: unknown }; // any object
    const result = Object.fromEntries(clean);
    return sessionUpdate === "terminal_update" ? { ...result, ...this.#output(output) } : result;
  }

  /** Redacts the whole output of a terminal. */
  #output(output: unknown): object {
    const { data } = (output ?? {}) as { data?: unknown }; // any value
    const bytes = fromBase64(data);
    if (bytes === undefined) return {};
    return { output: { ...(output as object), data: toBase64(this.#secrets.cleanKnown(bytes)) } }; // it has data
  }
}

interface Chunk {
  readonly kind?: unknown;
  readonly update?: {
    readonly sessionUpdate?: unknown;
    readonly content?: { readonly type?: unknown; readonly text?: unknown };
    readonly data?: unknown;
    readonly [key: string]: unknown;
  };
}

function pieceOf(item: object): Piece | undefined {
  const { update } = item as Chunk; // any entry; every member is checked
  const kind = update?.sessionUpdate;
  if (update === undefined || typeof kind !== "string" || !kind.endsWith("_chunk")) return undefined;
  const { messageId, toolCallId, terminalId, compactionId, content } = update;
  const stream = `${kind} ${String(messageId ?? toolCallId ?? terminalId ?? compactionId ?? "")}`;
  if (kind === "terminal_output_chunk") {
    const bytes = fromBase64(update.data);
    if (bytes === undefined) return undefined;
    return {
      stream,
      text: bytes,
      with: (text) => ({ ...item, update: { ...update, data: toBase64(text) } }),
    };
  }
  if (typeof content?.text !== "string") return undefined;
  return {
    stream,
    text: content.text,
    with: (text) => ({ ...item, update: { ...update, content: { ...content, text } } }),
  };
}
