// The part of JSON Schema that describes the config file.

export interface TextShape {
  readonly type: "string";
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly minLength?: number;
}

export interface NumberShape {
  readonly type: "integer" | "number";
  readonly description?: string;
  readonly minimum: number;
}

export interface SwitchShape {
  readonly type: "boolean";
  readonly description?: string;
}

export interface ObjectShape {
  readonly type: "object";
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  /** What names that are not listed have; false: there are no others. */
  readonly additionalProperties: Shape | false;
}

export interface ListShape {
  readonly type: "array";
  readonly description?: string;
  readonly items: Shape;
}

export type Shape = TextShape | NumberShape | SwitchShape | ListShape | ObjectShape;
