// What secrets look like, and the one list of those that were found: the same secret becomes the same mark
// wherever it stands, so that a redacted trace still tells what belongs together.

/** Keys whose values are secrets, whatever they look like. */
export const secretKey =
  /^(?:.*[-_.]|.*[a-z](?=[A-Z]))?(?:authorization|cookies?|passw(?:or)?d|passphrase|secrets?|tokens?|api[-_]?keys?|private[-_]?keys?|access[-_]?keys?|credentials?|bearer)$/i;

/** Options of a command whose next argument is one, or holds one. */
export const secretOption =
  /^(?:-e|-H|--env|--header|--?.*(?:token|secret|password|passwd|api-?key|auth|credentials?))$/i;

interface Pattern {
  readonly name: string;
  readonly expression: RegExp;
  /** The group that is the secret; 0 is all of it. */
  readonly group: number;
  /** It is recognised wherever it stands, so nobody has to look for it by its text. */
  readonly evident?: boolean;
}

const patterns: readonly Pattern[] = [
  {
    name: "private key",
    expression: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
    group: 0,
  },
  { name: "bearer token", expression: /\b(?:bearer|basic)\s+([\w.~+/-]{8,}=*)/gi, group: 1 },
  { name: "JSON web token", expression: /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, group: 0, evident: true },
  {
    name: "API key",
    expression:
      /\b(?:sk|pk|rk)[-_][\w-]{16,}|\bgh[pousr]_\w{16,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abeoprs]-[\w-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]{10,}|\bnpm_[A-Za-z0-9]{30,}|\bhf_[A-Za-z0-9]{20,}/g,
    group: 0,
    evident: true,
  },
  {
    name: "assignment",
    expression:
      /\b[\w-]{0,64}(?:TOKEN|SECRET|PASSWORD|PASSWD|API[-_]?KEY|PRIVATE[-_]?KEY|ACCESS[-_]?KEY)\b["']?\s*[=:]\s*["']?([^\s"',;&]{6,})/gi,
    group: 1,
  },
];

// Every repetition is bounded where a text without end could make it start over at each of its characters.
const userInfo = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)([^\s/@"']+)@/gi;
const queryValue = /([?&][\w.~-]+=)([^&#\s"'<>)]+)/g;
const address = /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'<>]+/gi;
const candidate = /(?<![\w/+-])[\w+/-]{32,200}={0,2}(?![\w/+-])/g;
const marked = /^\[(?:redacted|secret)\b/;

export class Secrets {
  readonly #marks = new Map<string, string>();
  /** Those that have to be looked for by their text, and why they are secrets. */
  readonly #known = new Map<string, { readonly mark: string; readonly why: string }>();
  /** How often each kind was replaced. */
  readonly counts = new Map<string, number>();

  get distinct(): number {
    return this.#marks.size;
  }

  /** The mark of a secret. `everywhere` replaces it in other texts too, so it must be no common word. */
  mark(secret: string, why: string, { everywhere = false, evident = false } = {}): string {
    if (secret === "" || marked.test(secret)) return secret;
    this.count(why);
    if (!everywhere || secret.length < 8) return "[redacted]";
    let mark = this.#marks.get(secret);
    if (mark === undefined) {
      mark = `[secret ${this.#marks.size + 1}]`;
      this.#marks.set(secret, mark);
      if (!evident) for (const form of formsOf(secret)) this.#known.set(form, { mark, why });
    }
    return mark;
  }

  count(why: string): void {
    this.counts.set(why, (this.counts.get(why) ?? 0) + 1);
  }

  /** Everything in a text that is known to be a secret, or looks like one. */
  clean(text: string): string {
    let clean = text;
    for (const [form, { mark, why }] of this.#known) {
      if (!clean.includes(form)) continue;
      clean = clean.replaceAll(form, mark);
      this.count(why);
    }
    for (const { name, expression, group, evident = false } of patterns) {
      clean = clean.replace(expression, (all: string, ...groups: unknown[]) => {
        const secret = group === 0 ? all : String(groups[group - 1]);
        return all.replace(secret, () => this.mark(secret, name, { everywhere: true, evident }));
      });
    }
    clean = clean.replace(
      userInfo,
      (_, scheme: string, secret: string) => `${scheme}${this.mark(secret, "address")}@`,
    );
    clean = clean.replace(address, (url) =>
      url.replace(queryValue, (_, key: string, value: string) => `${key}${this.mark(value, "address")}`),
    );
    return clean.replace(candidate, (word) =>
      looksRandom(word) ? this.mark(word, "random text", { everywhere: true, evident: true }) : word,
    );
  }
}

/** How programs write a secret down: as it is, inside JSON, in an address, in a header. */
function formsOf(secret: string): string[] {
  const base64 = Buffer.from(secret, "utf8").toString("base64").replace(/=+$/, "");
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), base64];
}

/** Upper case, lower case and digits in no order; a path, a hash in hex or a UUID is none of them. */
function looksRandom(word: string): boolean {
  if (!/[a-z]/.test(word) || !/[A-Z]/.test(word) || !/\d/.test(word)) return false;
  if (word.split("/").length > 3 || /^[\da-f-]+$/i.test(word)) return false;
  const counts = new Map<string, number>();
  for (const letter of word) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / word.length) * Math.log2(count / word.length);
  return bits > 4;
}
