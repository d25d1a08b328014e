// Replaces secrets by marks; the same secret always gets the same mark.

import { EncodedSecrets, type KnownForm } from "./encoded-secrets.ts";
import {
  address,
  decoded,
  formIn,
  formsOf,
  isDistinctive,
  isKnowable,
  looksRandom,
  type Pattern,
  patterns,
  queryValue,
  randomWord,
  shortestKnown,
  shortestSecret,
  userInfo,
} from "./secret-patterns.ts";

const isMark = /^\[(?:redacted|secret \d+)\]$/;
/** Matches marks, and the first word of a mark, which patterns may find again. */
const hasMark = /\[(?:redacted|secret \d+)\]|^\[secret$/;

const harmlessLength = 64;
const maxHarmless = 10_000;

export class Secrets {
  readonly #mark: string | undefined;
  readonly #marks = new Map<string, string>();
  /** Secrets that are found by their text. */
  readonly #known = new Map<string, KnownForm>();
  /** Short texts without a secret. */
  readonly #harmless = new Set<string>();
  #longestFirst: readonly KnownForm[] | undefined;
  /** The same secrets, however they are encoded. */
  readonly encoded = new EncodedSecrets();
  /** How often each kind was replaced. */
  readonly counts = new Map<string, number>();

  /** `mark` replaces every secret. Without it each has its number. */
  constructor(mark?: string) {
    this.#mark = mark;
  }

  get distinct(): number {
    return this.#marks.size;
  }

  get found(): readonly string[] {
    return [...this.#marks.keys()];
  }

  /** Longest first, so that a secret that contains another one is replaced as a whole. */
  get known(): readonly KnownForm[] {
    this.#longestFirst ??= [...this.#known.values()].sort((a, b) => b.form.length - a.form.length);
    return this.#longestFirst;
  }

  /** Returns the mark of a secret: a number, because a hash could be guessed. `everywhere` replaces it in other texts too, so it must not be a common word. */
  mark(secret: string, why: string, { everywhere = false, evident = false } = {}): string {
    if (secret === "" || secret === this.#mark || isMark.test(secret)) return secret;
    this.count(why);
    // variables and headers are configured, so their values are credentials, however short
    const isConfigured = why === "env" || why === "headers";
    return everywhere && (isConfigured ? isKnowable(secret) : secret.length >= shortestSecret)
      ? this.#remembered(secret, why, evident)
      : (this.#mark ?? "[redacted]");
  }

  /** Adds known secrets. Each gets a number when it is found. Throws a TypeError for a single text. */
  give(name: string, secrets: Iterable<string>): void {
    // a text is a list of its characters, none of which is a secret
    if (typeof secrets === "string") throw new TypeError(`${name}: expected a list of secrets, got one text`);
    for (const secret of secrets) {
      if (isKnowable(secret) && !isMark.test(secret)) this.#lookFor(secret, "given");
    }
  }

  markOf(secret: string): string {
    const mark = this.#marks.get(secret) ?? this.#mark ?? `[secret ${this.#marks.size + 1}]`;
    this.#marks.set(secret, mark);
    return mark;
  }

  #remembered(secret: string, why: string, evident = false): string {
    if (!evident) this.#lookFor(secret, why);
    return this.markOf(secret);
  }

  #lookFor(secret: string, why: string): void {
    if (this.#known.has(secret)) return;
    for (const form of formsOf(secret)) {
      // keep a form that is a secret by itself
      if (form !== secret && this.#known.has(form)) continue;
      this.#known.set(form, { form, secret, why });
      this.encoded.add({ form, secret, why });
    }
    this.#longestFirst = undefined;
    this.#harmless.clear();
  }

  count(why: string): void {
    this.counts.set(why, (this.counts.get(why) ?? 0) + 1);
  }

  /** Replaces known secrets only, not text that looks like one. */
  cleanKnown(text: string): string {
    // keys, ids and methods repeat often, and are hardly ever secrets
    if (text.length < shortestKnown || this.#harmless.has(text)) return text;
    const clean = this.#withoutKnown(text);
    if (clean === text && text.length <= harmlessLength) {
      if (this.#harmless.size >= maxHarmless) this.#harmless.clear();
      this.#harmless.add(text);
    }
    return clean;
  }

  #withoutKnown(text: string): string {
    let clean = text;
    for (const { form, secret, why } of this.known) {
      if (formIn(clean, form) === -1) continue;
      clean = withoutForm(clean, form, this.markOf(secret));
      this.count(why);
    }
    return this.#withoutEncoded(clean);
  }

  #withoutEncoded(text: string): string {
    const spans = this.encoded.spans(text);
    if (spans.length === 0) return text;
    let clean = "";
    let end = 0;
    for (const { from, to, known } of spans) {
      clean += text.slice(end, from) + this.markOf(known.secret);
      end = to;
      this.count(known.why);
    }
    return clean + text.slice(end);
  }

  /** Replaces known secrets and text that looks like one. */
  clean(text: string): string {
    let clean = this.#cleanPatterns(this.cleanKnown(text), true);
    clean = clean.replace(userInfo, (_, scheme: string, secret: string) => `${scheme}${this.#user(secret)}@`);
    return clean.replace(address, (url) =>
      url.replace(queryValue, (_, key: string, value: string) => {
        const secret = decoded(value);
        return `${key}${this.mark(secret, "address", { everywhere: isDistinctive(secret) })}`;
      }),
    );
  }

  /** Replaces a name and password, and remembers the password by itself. */
  #user(secret: string): string {
    const password = decoded(secret.slice(secret.indexOf(":") + 1));
    if (password.length >= shortestSecret && isDistinctive(password)) this.#remembered(password, "address");
    return this.mark(secret, "address");
  }

  /** Remembers secrets in a text that was sent in pieces. */
  learn(text: string): void {
    this.#cleanPatterns(text, false);
  }

  #cleanPatterns(text: string, mayBeEvident: boolean): string {
    let clean = text;
    for (const pattern of patterns) {
      clean = clean.replace(pattern.expression, (all: string, ...groups: unknown[]) =>
        this.#replaced(pattern, all, groups, mayBeEvident),
      );
    }
    return clean.replace(randomWord, (word) =>
      looksRandom(word) ? this.mark(word, "random text", { everywhere: true, evident: mayBeEvident }) : word,
    );
  }

  #replaced(pattern: Pattern, all: string, groups: unknown[], mayBeEvident: boolean): string {
    const { name, group, evident = false, doubtful = false } = pattern;
    const secret = group === 0 ? all : String(groups[group - 1]);
    if (hasMark.test(secret)) return all;
    const options = { everywhere: !doubtful || isDistinctive(secret), evident: evident && mayBeEvident };
    const at = all.lastIndexOf(secret);
    return `${all.slice(0, at)}${this.mark(secret, name, options)}${all.slice(at + secret.length)}`;
  }
}

function withoutForm(text: string, form: string, mark: string): string {
  if (form.length >= shortestSecret) return text.replaceAll(form, mark);
  let clean = "";
  let end = 0;
  for (let at = formIn(text, form); at !== -1; at = formIn(text, form, end)) {
    clean += text.slice(end, at) + mark;
    end = at + form.length;
  }
  return clean + text.slice(end);
}
