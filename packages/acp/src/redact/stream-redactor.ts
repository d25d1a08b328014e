// Takes what is known to be secret out of entries while they come, and nothing else: for what is kept or read by others
// as it happens. What may be the beginning of a secret waits for what follows it.

import { byteString } from "./secret-forms.ts";
import { Secrets } from "./secrets.ts";

/** A piece of a message or of a terminal's output: which stream it belongs to, and its text. */
interface Piece {
  readonly stream: string;
  readonly text: string;
  /** The same entry with another text. */
  with(text: string): object;
}

export class StreamRedactor<Item extends object> {
  readonly #secrets = new Secrets();
  /** What secrets look like, by the first character. */
  readonly #forms: ReadonlyMap<string, readonly string[]>;
  readonly #longest: number;
  /** The end of the last piece, which may be the beginning of a secret. */
  #held: Piece | undefined;

  constructor(secrets: Iterable<string>) {
    for (const secret of secrets) this.#secrets.give(secret);
    const forms = this.#secrets.known.map(({ form }) => form);
    this.#forms = Map.groupBy(forms, (form) => form.charAt(0));
    this.#longest = forms[0]?.length ?? 0;
  }

  /** Prose, an argument, a path. */
  text(text: string): string {
    return this.#forms.size === 0 ? text : this.#secrets.cleanKnown(text);
  }

  /** Any JSON value; what was given is not changed. */
  value<Value>(value: Value): Value {
    // as: every string becomes a string, and nothing else is touched
    return this.#forms.size === 0 ? value : (this.#every(value) as Value);
  }

  /** What can be told of it now: itself, nothing yet, or what was held back before it, too. */
  next(item: Item): Item[] {
    if (this.#forms.size === 0) return [item];
    const piece = pieceOf(item);
    const isNext = piece !== undefined && piece.stream === this.#held?.stream;
    const before = isNext ? [] : this.end();
    if (piece === undefined) return [...before, this.value(item)];
    const text = (isNext ? (this.#held?.text ?? "") : "") + piece.text;
    const clean = this.#secrets.cleanKnown(text);
    const tail = this.#beginningAtEnd(clean);
    this.#held = tail === 0 ? undefined : { ...piece, text: clean.slice(-tail) };
    const told = tail === 0 ? clean : clean.slice(0, -tail);
    return told === "" && text !== "" ? before : [...before, this.#told(piece, told)];
  }

  /** What is still held back: nothing follows it. */
  end(): Item[] {
    const held = this.#held;
    this.#held = undefined;
    return held === undefined ? [] : [this.#told(held, held.text)];
  }

  #told(piece: Piece, text: string): Item {
    // as: `with` gives the same item back with another text
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

  /** All that a terminal has printed, at once. */
  #output(output: unknown): object {
    const { data } = (output ?? {}) as { data?: unknown }; // any value
    const bytes = bytesOf(data);
    if (bytes === undefined) return {};
    return { output: { ...(output as object), data: inBase64(this.#secrets.cleanKnown(bytes)) } }; // it has data
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
  const { update } = item as Chunk; // any entry; each member is looked at
  const kind = update?.sessionUpdate;
  if (update === undefined || typeof kind !== "string" || !kind.endsWith("_chunk")) return undefined;
  const { messageId, toolCallId, terminalId, compactionId, content } = update;
  const stream = `${kind} ${String(messageId ?? toolCallId ?? terminalId ?? compactionId ?? "")}`;
  if (kind === "terminal_output_chunk") {
    const bytes = bytesOf(update.data);
    if (bytes === undefined) return undefined;
    return {
      stream,
      text: bytes,
      with: (text) => ({ ...item, update: { ...update, data: inBase64(text) } }),
    };
  }
  if (typeof content?.text !== "string") return undefined;
  return {
    stream,
    text: content.text,
    with: (text) => ({ ...item, update: { ...update, content: { ...content, text } } }),
  };
}

function bytesOf(data: unknown): string | undefined {
  if (typeof data !== "string") return undefined;
  try {
    return atob(data);
  } catch {
    return undefined;
  }
}

function inBase64(bytes: string): string {
  return btoa(/[^\0-\xff]/.test(bytes) ? byteString(bytes) : bytes);
}
