// Defines a tool: validates its arguments against their JSON Schema and reports protocol errors to the model.

import { RequestError } from "@parley/acp";
import { isObject, optional } from "@parley/acp/jsonrpc";
import type { TextPart } from "../../model/model.ts";
import { type ArgumentNames, withOurNames } from "./argument-names.ts";
import {
  type PreparedCall,
  type RunContext,
  type Tool,
  type ToolContext,
  ToolError,
  type ToolResult,
} from "./tool.ts";

/** What `defineTool` makes a tool of. */
export interface ToolDefinition<P extends Readonly<Record<string, Schema>>, R extends readonly (keyof P)[]>
  extends Pick<Tool, "name" | "description" | "isReadOnly" | "draft" | "modes">,
    ArgumentNames {
  /** The JSON Schemas of the arguments, by name. */
  readonly properties: P;
  /** The names of the arguments that must be given. */
  readonly required: R;
  /**
   * Describes the call, without changing anything. The arguments are checked. Throw ToolError where they make no sense,
   * with a message that helps the model.
   */
  prepare(
    input: ValueOf<{ type: "object"; properties: P; required: R }>,
    context: ToolContext,
  ): Promise<DefinedCall> | DefinedCall;
}

/** A call of a tool made with `defineTool`: its result may be plain text. */
export interface DefinedCall extends Omit<PreparedCall, "run"> {
  /** Runs the call, after permission was given. A text is the result for the model. Throw ToolError for failures. */
  run(context: RunContext): Promise<ToolResult | string> | ToolResult | string;
}

/**
 * Makes a tool for the coding agent. Its arguments are checked against their schemas before `prepare` is called, and mistakes
 * are reported to the model.
 *
 * @param definition - The name, the description for the model, the arguments, and `prepare`.
 *
 * @example
 * import { defineTool } from "@parley/agent/tools";
 *
 * const wordCount = defineTool({
 *   name: "word_count",
 *   description: "Count the words of a file.",
 *   isReadOnly: true,
 *   properties: { path: { type: "string", description: "An absolute path" } },
 *   required: ["path"],
 *   prepare: ({ path }, { files }) => ({
 *     presentation: { title: `Count the words of ${path}`, kind: "read" },
 *     access: { type: "read", paths: [path] },
 *     run: async () => `${(await files.read(path)).text.split(/\s+/).length} words`,
 *   }),
 * });
 */
export function defineTool<
  const P extends Readonly<Record<string, Schema>>,
  const R extends readonly (keyof P & string)[],
>(definition: ToolDefinition<P, R>): Tool {
  const { properties, required, ignores, ...tool } = definition;
  const { name, aliases } = tool;
  const inputSchema = { type: "object", properties, required, additionalProperties: false } as const;
  const names = optional({ aliases, ignores });
  return {
    ...tool,
    inputSchema,
    async prepare(input, context) {
      const checked = checkedArguments(name, inputSchema, withOurNames(inputSchema, names, input));
      const prepared = await withToolErrors(async () => definition.prepare(checked, context));
      return {
        ...prepared,
        input: checked,
        run: (run) => withToolErrors(async () => resultOf(await prepared.run(run))),
      };
    },
  };
}

function resultOf(result: ToolResult | string): ToolResult {
  return typeof result === "string" ? { content: [textPart(result)] } : result;
}

async function withToolErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof RequestError ? new ToolError(messageOf(error), { cause: error }) : error;
  }
}

/** Adds the details that clients with the official SDK send beside "Internal error". */
function messageOf({ message, data }: RequestError): string {
  const details = (data as { details?: unknown } | null | undefined)?.details;
  return typeof details === "string" && details !== "" ? `${message}: ${details.slice(0, 1_000)}` : message;
}

export function textPart(text: string): TextPart {
  return { type: "text", text };
}

/** The JSON Schema of an argument. */
export type Schema =
  | {
      readonly type: "string";
      readonly description?: string;
      readonly enum?: readonly string[];
      readonly minLength?: number;
    }
  | {
      readonly type: "integer";
      readonly description?: string;
      readonly minimum?: number;
      readonly maximum?: number;
    }
  | { readonly type: "boolean"; readonly description?: string }
  | {
      readonly type: "array";
      readonly description?: string;
      readonly items: Schema;
      readonly minItems?: number;
    }
  | ObjectSchema;

/** The JSON Schema of an object. */
export interface ObjectSchema {
  /** Always "object". */
  readonly type: "object";
  /** Its purpose, written for the model. */
  readonly description?: string;
  /** The schemas of its fields, by name. */
  readonly properties: Readonly<Record<string, Schema>>;
  /** The names of the fields that must be given. */
  readonly required: readonly string[];
  /** No other fields are accepted. */
  readonly additionalProperties: false;
}

/** The type of a value that fits a schema. */
export type ValueOf<S> = S extends { type: "string"; enum: readonly (infer Choice)[] }
  ? Choice
  : S extends { type: "string" }
    ? string
    : S extends { type: "integer" }
      ? number
      : S extends { type: "boolean" }
        ? boolean
        : S extends { type: "array"; items: infer Item }
          ? readonly ValueOf<Item>[]
          : S extends { type: "object"; properties: infer Properties; required: readonly (infer Required)[] }
            ? { readonly [Key in keyof Properties & Required]: ValueOf<Properties[Key]> } & {
                readonly [Key in Exclude<keyof Properties, Required>]?: ValueOf<Properties[Key]>;
              }
            : never;

/** Throws ToolError. */
export function checkedArguments<const S extends ObjectSchema>(
  tool: string,
  schema: S,
  input: unknown,
): ValueOf<S> {
  // some models omit the arguments when all are optional
  const value = checked(schema, input ?? {}, { tool, path: "" });
  return value as ValueOf<S>; // validated against the schema of the type
}

/** `path` is for example `edits[0].oldText`; empty for the arguments as a whole. */
type ArgumentPath = Readonly<Record<"tool" | "path", string>>;

function checked(schema: Schema, given: unknown, at: ArgumentPath): unknown {
  const value = converted(schema, given);
  if (schema.type === "object" && isObject(value)) return checkedObject(schema, value, at);
  if (!fits(schema, value)) throw wrong(at, schema, given);
  if (schema.type !== "array" || !Array.isArray(value)) return value;
  return value.map((item, index) => checked(schema.items, item, { ...at, path: `${at.path}[${index}]` }));
}

function fits(schema: Schema, value: unknown): boolean {
  switch (schema.type) {
    case "string":
      if (typeof value !== "string" || value.length < (schema.minLength ?? 0)) return false;
      return schema.enum?.includes(value) ?? true;
    case "integer": {
      const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = schema;
      return Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
    }
    case "boolean":
      return typeof value === "boolean";
    case "array":
      return Array.isArray(value) && value.length >= (schema.minItems ?? 0);
    case "object":
      return isObject(value);
  }
}

function checkedObject(schema: ObjectSchema, value: object, at: ArgumentPath): Record<string, unknown> {
  const path = (name: string) => (at.path === "" ? name : `${at.path}.${name}`);
  const known = Object.keys(schema.properties);
  const result: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(value)) {
    const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    if (property === undefined) {
      throw new ToolError(
        `${at.tool} has no argument ${JSON.stringify(path(name))}; it takes ${known.join(", ")}`,
      );
    }
    // some models write null for an omitted argument
    if (given === null && !schema.required.includes(name)) continue;
    result[name] = checked(property, given, { ...at, path: path(name) });
  }
  const missing = schema.required.filter((name) => !(name in result));
  if (missing.length > 0) {
    const names = missing.map(path).join(", ");
    throw new ToolError(`${at.tool} needs ${names}; it takes ${known.join(", ")}`);
  }
  return result;
}

/** Converts a string that stands for a number, boolean, list or object. */
function converted(schema: Schema, given: unknown): unknown {
  if (typeof given !== "string" || schema.type === "string") return given;
  if (schema.type === "integer") return /^-?\d+$/.test(given) ? Number(given) : given;
  if (schema.type === "boolean") return given === "true" ? true : given === "false" ? false : given;
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}

function wrong({ tool, path }: ArgumentPath, schema: Schema, given: unknown): ToolError {
  const what = path === "" ? `the arguments of ${tool}` : `${tool}: ${path}`;
  return new ToolError(`${what} must be ${wanted(schema)}, got ${shown(given)}`);
}

function wanted(schema: Schema): string {
  switch (schema.type) {
    case "string":
      if (schema.enum !== undefined) return `one of ${schema.enum.map((choice) => `"${choice}"`).join(", ")}`;
      return schema.minLength === undefined ? "a string" : "a string that is not empty";
    case "integer": {
      const { minimum, maximum } = schema;
      const from = minimum === undefined ? "" : ` from ${minimum}`;
      return `a whole number${from}${maximum === undefined ? (from === "" ? "" : " up") : ` to ${maximum}`}`;
    }
    case "boolean":
      return "true or false";
    case "array":
      return schema.minItems === undefined ? "a list" : `a list of at least ${schema.minItems}`;
    case "object":
      return `an object with ${Object.keys(schema.properties).join(", ")}`;
  }
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
