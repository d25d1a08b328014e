// Removes secrets, user names and, on request, contents from messages and entries, so that they can still be replayed.

import { checkOptions } from "../base/known-options.ts";
import { isObject } from "../base/objects.ts";
import { redactorKeys } from "../base/option-keys.gen.ts";
import {
  address,
  countKey,
  decoded,
  fromBase64,
  isDistinctive,
  isKnowable,
  secretKey,
  secretOption,
  toBase64,
} from "./secret-patterns.ts";
import { isSecretName, isSettingName } from "./secret-variables.ts";
import { Secrets } from "./secrets.ts";
import { SplitSecrets } from "./split-secrets.ts";

/** Known secrets, and further data to hide. */
export interface RedactorOptions {
  /** Replaces the texts of messages and files too, but keeps their lengths. Default false. */
  readonly contents?: boolean | undefined;
  /** The home directory of the user, which is replaced. Default: only common ones, such as `/home/name`. */
  readonly homeFolder?: string | undefined;
  /** Whether to replace user names and home directories. Default true. */
  readonly names?: boolean | undefined;
  /** Known secrets, such as stored keys. Default: none. */
  readonly secrets?: Iterable<string> | undefined;
  /** The text that replaces every secret. Default: `[secret 1]` and so on, the same for the same secret. */
  readonly mark?: string | undefined;
}

/** Values that a replay or a reader needs unchanged. */
const keptKey =
  /^(?:jsonrpc|id|method|type|kind|status|sessionUpdate|stopReason|outcome|mimeType|role|action|mode|priority)$|(?:^|[a-z_])ids?$|Ids?$/;
const contentKey =
  /^(?:text|content|oldText|newText|data|blob|output|thought|summary|patch|title|description)$/;
const rawKey = /^(?:rawInput|rawOutput)$/;
const commonUsers =
  /^(?:root|user|users?|me|you|home|admin|runner|ubuntu|node|app|vscode|shared|public|guest)$/i;
const loginMethod = /^(?:authenticate|auth\/login)$/;

/** Redacts messages in the order of the conversation. */
export interface Redactor {
  /** Redacts text, a path or an argument. */
  text(text: string): string;
  /** Redacts a copy of an entry or any other JSON value. */
  value(value: unknown): unknown;
  /** Redacts the words of a command. */
  command(args: readonly string[]): string[];
  /** Redacts one line of the wire. `from` says who sent it. Text that is not JSON is redacted as text. */
  line(from: "client" | "agent" | (string & {}), text: string): string;
  /** Starts another pass over the same messages, with all secrets that were found so far. */
  again(): void;
  /** Counts a replacement by the caller. */
  count(why: string): void;
  /** How many values were replaced in this pass, by reason. */
  readonly counts: ReadonlyMap<string, number>;
  /** How many different secrets were found. */
  readonly distinct: number;
}

/**
 * Creates a redactor that finds secrets by known values, key names and patterns, and replaces them. A secret that
 * appears late or in pieces is known only afterwards: to replace all of them, make three passes and call `again()`
 * between them.
 *
 * @example
 * import { redactor } from "@parley/acp/redact";
 *
 * const clean = redactor({ secrets: ["hunter2-hunter2"] });
 * console.log(clean.text("the password is hunter2-hunter2"));
 */
export function redactor(options: RedactorOptions = {}): Redactor {
  checkOptions("redactor", options, redactorKeys);
  return new SecretRedactor(options);
}

class SecretRedactor implements Redactor {
  readonly #secrets: Secrets;
  readonly #split: SplitSecrets;
  readonly #contents: boolean;
  readonly #home: string;
  readonly #hidesNames: boolean;
  readonly #users = new Set<string>();
  /** Methods of open requests, by sender and id: some answers are secret as a whole. */
  readonly #open = new Map<string, string>();
  #session = "";
  /** The stream that the current texts are pieces of. */
  #stream: string | undefined;

  constructor(options: RedactorOptions = {}) {
    const { contents = false, homeFolder = "", names = true, secrets = [], mark } = options;
    this.#secrets = new Secrets(mark);
    this.#split = new SplitSecrets(this.#secrets);
    this.#contents = contents;
    this.#hidesNames = names;
    this.#home = homeFolder;
    this.#secrets.give("redactor", secrets);
  }

  get counts(): ReadonlyMap<string, number> {
    return this.#secrets.counts;
  }

  /** The secrets that are replaced everywhere. */
  get found(): readonly string[] {
    return this.#secrets.found;
  }

  get distinct(): number {
    return this.#secrets.distinct;
  }

  again(): void {
    this.#split.again();
    this.#open.clear();
    this.#secrets.counts.clear();
  }

  count(why: string): void {
    this.#secrets.count(why);
  }

  line(from: string, text: string): string {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return this.#contents ? this.#hidden(text) : this.text(text);
    }
    const clean = Array.isArray(value)
      ? value.map((message) => this.#message(from, message))
      : this.#message(from, value);
    const result = JSON.stringify(clean);
    // an unchanged message keeps its formatting
    return result === JSON.stringify(value) ? text : result;
  }

  value(value: unknown): unknown {
    return this.#value(value, "");
  }

  text(text: string): string {
    return this.#names(this.#secrets.clean(text));
  }

  command(args: readonly string[]): string[] {
    return args.map((argument, index) => this.#argument(argument, args[index - 1]));
  }

  #message(from: string, message: unknown): unknown {
    if (!isObject(message)) return this.#value(message, "");
    const { id, method } = message;
    if (typeof method === "string") {
      if (id !== undefined) this.#open.set(`${from} ${JSON.stringify(id)}`, method);
      if (!loginMethod.test(method)) return this.#value(message, "");
      return this.#object(message, (key, item) =>
        key === "params" && isObject(item)
          ? this.#object(item, (name, each) =>
              name === "methodId"
                ? this.#value(each, name)
                : this.#secret(each, "login", secretKey.test(name)),
            )
          : undefined,
      );
    }
    const key = `${from === "client" ? "agent" : "client"} ${JSON.stringify(id)}`;
    const answered = this.#open.get(key);
    this.#open.delete(key);
    if (answered !== "elicitation/create") return this.#value(message, "");
    return this.#object(message, (name, item) => (name === "result" ? this.#form(item) : undefined));
  }

  /** Redacts the input of a form. */
  #form(answer: unknown): unknown {
    if (!isObject(answer)) return this.#value(answer, "");
    return this.#object(answer, (name, item) => {
      if (name !== "content") return isObject(item) ? this.#form(item) : undefined;
      if (!isObject(item)) return this.#secret(item, "form", false);
      return this.#object(item, (field, each) => this.#secret(each, "form", secretKey.test(field)));
    });
  }

  #value(value: unknown, key: string): unknown {
    if (typeof value === "string") return this.#string(value, key);
    if (Array.isArray(value)) {
      if (key === "env" || key === "headers") return value.map((item) => this.#pair(item, key));
      const strings = value.every((item) => typeof item === "string");
      if (strings && /^(?:args|argv|command)$/.test(key)) return this.command(value);
      return value.map((item) => this.#value(item, key));
    }
    if (!isObject(value)) return value;
    if (key === "env" || key === "headers") {
      return this.#object(value, (name, item) => this.#secret(item, key, reachOf(name, item)));
    }
    const { sessionId, sessionUpdate, kind } = value;
    if (typeof sessionId === "string") this.#session = sessionId;
    if (typeof sessionUpdate === "string") return this.#update(value, sessionUpdate);
    // an entry with the answer to a form
    return this.#object(value, (name, item) =>
      kind === "answer" && name === "elicitation" ? this.#form(item) : undefined,
    );
  }

  #update(update: Record<string, unknown>, kind: string): unknown {
    const { messageId, toolCallId, terminalId, compactionId } = update;
    const id = messageId ?? toolCallId ?? terminalId ?? compactionId ?? "";
    const outer = this.#stream;
    this.#stream = kind.endsWith("_chunk") ? `${this.#session} ${kind} ${String(id)}` : undefined;
    const clean = this.#object(update, (name, item) => {
      if (name === "data" && kind === "terminal_output_chunk") return this.#output(item);
      return name === "output" && kind === "terminal_update" && isObject(item)
        ? this.#object(item, (field, each) => (field === "data" ? this.#output(each) : undefined))
        : undefined;
    });
    this.#stream = outer;
    return clean;
  }

  /** Redacts a terminal's output in base64. */
  #output(data: unknown): unknown {
    const bytes = fromBase64(data);
    if (bytes === undefined) return undefined;
    const clean = this.#contents ? this.#hidden(bytes) : this.#piece(bytes);
    return clean === bytes ? data : toBase64(clean);
  }

  /** `special` returns undefined for fields that need no special treatment. */
  #object(value: object, special: (key: string, item: unknown) => unknown): object {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const name = this.#secrets.cleanKnown(key);
        const replaced = special(key, item);
        if (replaced !== undefined) return [name, replaced];
        if (secretKey.test(key)) {
          return [name, this.#secret(item, countKey.test(key) ? "counting key" : "key", true)];
        }
        if (this.#contents && rawKey.test(key)) {
          return [name, this.#everyString(item, (text) => this.#hidden(text))];
        }
        return [name, this.#value(item, key)];
      }),
    );
  }

  #string(text: string, key: string): string {
    if (keptKey.test(key)) return this.#secrets.cleanKnown(text);
    if (this.#contents && contentKey.test(key)) return this.#hidden(text);
    return key === "text" ? this.#piece(text) : this.text(text);
  }

  #piece(text: string): string {
    return this.text(this.#stream === undefined ? text : this.#split.piece(this.#stream, text));
  }

  /** Redacts a `{ name, value }` pair of an environment or of headers. */
  #pair(item: unknown, key: string): unknown {
    if (!isObject(item)) return this.#secret(item, key, false);
    const reach = reachOf(String(item.name), item.value);
    return this.#object(item, (name, each) =>
      name === "value" ? this.#secret(each, key, reach) : undefined,
    );
  }

  /** `everywhere` replaces the value in other texts too, even if it could be a common word. */
  #secret(value: unknown, why: string, everywhere: boolean | "here"): unknown {
    if (typeof value === "number" && why !== "counting key") return this.#replacedBy(0, why);
    if (typeof value === "boolean" && (why === "form" || why === "login")) {
      return this.#replacedBy(false, why);
    }
    if (Array.isArray(value)) return value.map((item) => this.#secret(item, why, everywhere));
    if (isObject(value)) {
      // the values of credentials are secret wherever they appear, whatever their own names are
      return this.#object(value, (key, item) =>
        this.#secret(item, why, everywhere === false ? secretKey.test(key) : everywhere),
      );
    }
    if (typeof value !== "string") return value;
    return this.#secrets.mark(value, why === "counting key" ? "key" : why, {
      everywhere: everywhere === "here" ? false : everywhere || isDistinctive(value),
    });
  }

  #replacedBy(value: unknown, why: string): unknown {
    this.#secrets.count(why);
    return value;
  }

  #everyString(value: unknown, replace: (text: string) => string): unknown {
    if (typeof value === "string") return replace(value);
    if (Array.isArray(value)) return value.map((item) => this.#everyString(item, replace));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        this.#secrets.cleanKnown(key),
        this.#everyString(item, replace),
      ]),
    );
  }

  #argument(argument: string, before: string | undefined): string {
    if (before !== undefined && secretOption.test(before)) {
      // `-e NAME=value`, `-H "Name: value"`, `--token value`
      const [, name = "", secret = argument] = /^([\w-]+(?:=|:\s*))(.*)$/s.exec(argument) ?? [];
      const isSecret = name === "" || secretKey.test(name.replace(/\W+$/, ""));
      return `${name}${this.#secrets.mark(secret, "argument", { everywhere: isSecret || isDistinctive(secret) })}`;
    }
    const [, option, value] = /^(--?[\w-]+)=(.+)$/s.exec(argument) ?? [];
    if (option !== undefined && value !== undefined && secretOption.test(option)) {
      return `${option}=${this.#secrets.mark(value, "argument", { everywhere: true })}`;
    }
    return this.text(argument);
  }

  /** Replaces home directories and user names. */
  #names(text: string): string {
    if (!this.#hidesNames) return text;
    let clean = text;
    if (this.#home.length > 1 && clean.includes(this.#home)) {
      clean = clean.replaceAll(boundary(this.#home), () => this.#named("/home/user"));
    }
    clean = clean.replace(
      /(\/home\/|\/Users\/|[A-Za-z]:\\+Users\\+)([\w.-]+)/g,
      (all, folder: string, user: string) => {
        if (commonUsers.test(user)) return all;
        if (user.length > 2) this.#users.add(user);
        return this.#named(`${folder}user`);
      },
    );
    for (const user of this.#users) {
      if (clean.includes(user)) clean = clean.replaceAll(boundary(user), () => this.#named("user"));
    }
    return clean;
  }

  #named(replacement: string): string {
    this.#secrets.count("home or user");
    return replacement;
  }

  #hidden(text: string): string {
    if (!/[^\sx]/.test(text)) return text;
    this.#secrets.count("content");
    return text.replaceAll(/\S/g, "x");
  }
}

/** Matches the text as a whole word or path component. */
function boundary(text: string): RegExp {
  return new RegExp(`(?<![\\w.-])${text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w-])`, "g");
}

/** Whether the value of a variable or header is replaced everywhere, or only here. */
function reachOf(name: string, value: unknown): boolean | "here" {
  const isCount = countKey.test(name) && /^\d+$/.test(String(value));
  return isCount || isSettingName(name) ? "here" : secretKey.test(name) || isSecretName(name);
}

/**
 * Finds the secrets in settings by their position: values of `env` and `headers`, of keys with telling names, arguments
 * after options such as `--token`, and the passwords and the query of URLs. A value of `env` or `headers` and a password
 * count from four characters, others from eight.
 *
 * @param value - Any JSON value.
 *
 * @example
 * import { secretsIn, streamRedactor } from "@parley/acp/redact";
 *
 * const server = { command: "tracker", env: { TRACKER_TOKEN: "hunter2-hunter2" } };
 * console.log(streamRedactor(secretsIn(server)).text("hunter2-hunter2 is wrong"));
 */
export function secretsIn(value: unknown): string[] {
  const redacting = new SecretRedactor({ names: false });
  redacting.value(value);
  const passwords: string[] = [];
  for (const url of addresses(value)) {
    redacting.text(url);
    passwords.push(...passwordsOf(url));
  }
  return [...new Set([...redacting.found, ...passwords.filter(isKnowable)])];
}

function* addresses(value: unknown): Generator<string> {
  if (typeof value === "string") for (const [url] of value.matchAll(address)) yield url;
  else if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) yield* addresses(item);
  }
}

/** Passwords in our own URLs count even if they are common words. */
function passwordsOf(url: string): string[] {
  if (!URL.canParse(url)) return [];
  const { password, searchParams } = new URL(url);
  const named = [...searchParams].flatMap(([key, value]) => (secretKey.test(key) ? [value] : []));
  return [password, decoded(password), ...named];
}
