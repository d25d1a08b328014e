// Takes secrets, names and, if asked, contents out of messages. The shape stays: keys, ids, methods, kinds and
// the order of everything, so that what is left can be replayed.

import { Secrets, secretKey, secretOption } from "./trace-secrets.ts";

export interface RedactorOptions {
  /** Also hides texts, keeping their lengths. */
  readonly contents: boolean;
  /** The home directory of this machine's user. */
  readonly home: string;
}

/** Values that a replay or a reader needs as they are. */
const keptKey =
  /^(?:jsonrpc|id|method|type|kind|status|sessionUpdate|stopReason|outcome|mimeType|role|action|mode|priority)$|(?:^|[a-z_])ids?$|Ids?$/;
const contentKey =
  /^(?:text|content|oldText|newText|data|blob|output|thought|summary|patch|title|description)$/;
const rawKey = /^(?:rawInput|rawOutput)$/;
const commonUsers =
  /^(?:root|user|users?|me|you|home|admin|runner|ubuntu|node|app|vscode|shared|public|guest)$/i;

export class Redactor {
  readonly secrets = new Secrets();
  readonly #contents: boolean;
  readonly #home: string;
  readonly #users = new Set<string>();
  /** Methods of open requests, by who asked and the id: some answers are secret as a whole. */
  readonly #open = new Map<string, string>();

  constructor({ contents, home }: RedactorOptions) {
    this.#contents = contents;
    this.#home = home;
  }

  /** One line of the wire. Text that is no JSON is cleaned as text. */
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
    // what has not changed stays as it was written, to the last blank
    return result === JSON.stringify(value) ? text : result;
  }

  /** Prose, a path, an argument: whatever a person or a program wrote. */
  text(text: string): string {
    return this.#names(this.secrets.clean(text));
  }

  command(args: readonly string[]): string[] {
    return args.map((argument, index) => this.#argument(argument, args[index - 1]));
  }

  #message(from: string, message: unknown): unknown {
    if (!isObject(message)) return this.#value(message, "");
    const { id, method } = message;
    if (typeof method === "string") {
      if (id !== undefined) this.#open.set(`${from} ${JSON.stringify(id)}`, method);
      const isLogin = /^(?:authenticate|auth\/login)$/.test(method);
      return this.#object(message, (key, item) =>
        isLogin && key === "params" && isObject(item)
          ? this.#object(item, (name, each) =>
              name === "methodId" ? each : this.#secret(each, "login", false),
            )
          : undefined,
      );
    }
    const key = `${from === "client" ? "agent" : "client"} ${JSON.stringify(id)}`;
    const answered = this.#open.get(key);
    this.#open.delete(key);
    // what a person typed into a form
    if (answered !== "elicitation/create" || !isObject(message.result)) return this.#value(message, "");
    const result = this.#object(message.result, (name, item) =>
      name === "content" ? this.#secret(item, "form", false) : undefined,
    );
    return { ...message, result };
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
      return this.#object(value, (name, item) => this.#secret(item, key, secretKey.test(name)));
    }
    return this.#object(value, () => undefined);
  }

  /** `special` answers undefined where nothing is special. */
  #object(value: object, special: (key: string, item: unknown) => unknown): object {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const replaced = special(key, item);
        if (replaced !== undefined) return [key, replaced];
        if (secretKey.test(key) && typeof item !== "number") return [key, this.#secret(item, "key", true)];
        if (this.#contents && rawKey.test(key))
          return [key, this.#everyString(item, (text) => this.#hidden(text))];
        return [key, this.#value(item, key)];
      }),
    );
  }

  #string(text: string, key: string): string {
    if (keptKey.test(key)) return text;
    if (this.#contents && contentKey.test(key)) return this.#hidden(text);
    return this.text(text);
  }

  /** `{ name, value }`, of an environment or of headers. */
  #pair(item: unknown, key: string): unknown {
    if (!isObject(item)) return this.#secret(item, key, false);
    const isSecret = secretKey.test(String(item.name));
    return this.#object(item, (name, each) =>
      name === "value" ? this.#secret(each, key, isSecret) : undefined,
    );
  }

  #secret(value: unknown, why: string, everywhere: boolean): unknown {
    return this.#everyString(value, (text) => this.secrets.mark(text, why, { everywhere }));
  }

  #everyString(value: unknown, replace: (text: string) => string): unknown {
    if (typeof value === "string") return replace(value);
    if (Array.isArray(value)) return value.map((item) => this.#everyString(item, replace));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, this.#everyString(item, replace)]),
    );
  }

  #argument(argument: string, before: string | undefined): string {
    if (before !== undefined && secretOption.test(before)) {
      // `-e NAME=value`, `-H "Name: value"`, `--token value`
      const [, name = "", secret = argument] = /^([\w-]+(?:=|:\s*))(.*)$/s.exec(argument) ?? [];
      const everywhere = name === "" || secretKey.test(name.replace(/\W+$/, ""));
      return `${name}${this.secrets.mark(secret, "argument", { everywhere })}`;
    }
    const [, option, value] = /^(--?[\w-]+)=(.+)$/s.exec(argument) ?? [];
    if (option !== undefined && value !== undefined && secretOption.test(option)) {
      return `${option}=${this.secrets.mark(value, "argument", { everywhere: true })}`;
    }
    return this.text(argument);
  }

  /** Homes and the names of their users. */
  #names(text: string): string {
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
    this.secrets.count("home or user");
    return replacement;
  }

  #hidden(text: string): string {
    if (!/[^\sx]/.test(text)) return text;
    this.secrets.count("content");
    return text.replaceAll(/\S/g, "x");
  }
}

/** The text where no longer word or path component has it. */
function boundary(text: string): RegExp {
  return new RegExp(`(?<![\\w.-])${text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w-])`, "g");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
