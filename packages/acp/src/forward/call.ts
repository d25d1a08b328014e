// A call on its way from one peer to another. Its text is kept: what nobody changes is written as it came.

import { memberText, withMember } from "../jsonrpc/json-text.ts";

/** A request or a notification without its id. */
export class Call {
  readonly method: string;
  readonly params: unknown;
  /** The message as it came. */
  readonly text: string | undefined;
  #paramsText: string | undefined;

  /** `text` is the message as it came; without it the call is written anew. */
  constructor(method: string, params: unknown, text?: string) {
    this.method = method;
    this.params = params;
    this.text = text;
  }

  /** A call that came inside another message. */
  static within(method: string, params: unknown, paramsText: string | undefined): Call {
    const call = new Call(method, params);
    call.#paramsText = paramsText;
    return call;
  }

  /** The same call of another name. */
  named(method: string): Call {
    return Call.within(method, this.params, this.paramsText);
  }

  /** Characters of the message, for limits. */
  get size(): number {
    return (this.text ?? this.paramsText ?? "").length;
  }

  /** The params as JSON; undefined where there are none. */
  get paramsText(): string | undefined {
    if (this.#paramsText === undefined && this.params !== undefined) {
      this.#paramsText =
        this.text === undefined ? JSON.stringify(this.params) : memberText(this.text, "params");
    }
    return this.#paramsText;
  }

  notificationText(): string {
    return this.text ?? `{"jsonrpc":"2.0",${this.#rest()}`;
  }

  requestText(id: number): string {
    if (this.text !== undefined) return withMember(this.text, "id", String(id));
    return `{"jsonrpc":"2.0","id":${id},${this.#rest()}`;
  }

  #rest(): string {
    const { paramsText } = this;
    return `"method":${JSON.stringify(this.method)}${paramsText === undefined ? "" : `,"params":${paramsText}`}}`;
  }
}
