// The request that a handler of an agent works on, and the custom data of its answer.

import { isObject, optional } from "../../base/objects.ts";
import { argumentText } from "../../jsonrpc/errors.ts";
import type { Meta } from "../../model/content.ts";
import type { AgentRequest } from "./agent-definition.ts";

export class HandledOp implements AgentRequest {
  readonly _meta?: Meta;
  /** For the answer. Apps see only what sets it. */
  #resultMeta: Meta | undefined;

  constructor({ _meta }: { readonly _meta?: Meta }) {
    Object.assign(this, optional({ _meta }));
  }

  setResultMeta = (meta: Meta): void => {
    if (!isObject(meta)) throw new TypeError(`setResultMeta: expected an object, got ${argumentText(meta)}`);
    this.#resultMeta = meta;
  };

  get resultMeta(): Meta | undefined {
    return this.#resultMeta;
  }

  set resultMeta(meta: Meta | undefined) {
    this.#resultMeta = meta;
  }

  value(value: object): { readonly kind: "value"; readonly value: object } {
    return { kind: "value", value: { ...value, ...optional({ _meta: this.#resultMeta }) } };
  }

  /** The answer of a request that has no other result. */
  get none(): { readonly kind: "none"; readonly _meta?: Meta } {
    return { kind: "none", ...optional({ _meta: this.#resultMeta }) };
  }
}
