// Defines a tool: a name, a description, a schema and a function.

import type { ContentBlock } from "@parley/acp/model";
import { describeValue } from "./describe-value.ts";

/** A JSON Schema of an object. */
export interface ObjectSchema {
  /** Always "object". */
  readonly type: "object";
  /** The schema of each field. */
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
  /** The fields that must be there. */
  readonly required?: readonly string[] | undefined;
  /** Any other keyword of JSON Schema. */
  readonly [keyword: string]: unknown;
}

/** A schema of a library that follows Standard Schema and can give its JSON Schema, such as zod 4.2. */
export interface StandardSchema<Output = unknown> {
  /** The interface that Standard Schema defines. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly validate: (value: unknown) => unknown;
    readonly jsonSchema: object;
  };
}

/** The value that a schema describes. Of JSON Schema, only simple types are inferred; any other field is `unknown`. */
export type ToolInput<Schema> =
  Schema extends StandardSchema<infer Output>
    ? Output
    : Schema extends { readonly enum: readonly (infer Value)[] }
      ? Value
      : Schema extends { readonly const: infer Value }
        ? Value
        : Schema extends { readonly type: "string" }
          ? string
          : Schema extends { readonly type: "number" | "integer" }
            ? number
            : Schema extends { readonly type: "boolean" }
              ? boolean
              : Schema extends { readonly type: "array"; readonly items: infer Items }
                ? readonly ToolInput<Items>[]
                : Schema extends { readonly type: "object"; readonly properties: infer Fields }
                  ? ObjectInput<
                      Fields,
                      Schema extends { readonly required: readonly (infer Name)[] } ? Name : never
                    >
                  : Schema extends { readonly type: "object" }
                    ? Readonly<Record<string, unknown>>
                    : unknown;

/** @inline */
type ObjectInput<Fields, Required> = {
  readonly [Name in keyof Fields as Name extends Required ? Name : never]: ToolInput<Fields[Name]>;
} & {
  readonly [Name in keyof Fields as Name extends Required ? never : Name]?: ToolInput<Fields[Name]>;
};

/** The context of a call of a tool. */
export interface ToolContext {
  /** The session that the tool was given to. Undefined for a tool that belongs to no session. */
  readonly sessionId: string | undefined;
  /** Aborts when the agent cancels the call, or the connection ends. */
  readonly signal: AbortSignal;
  /** Reports progress to the agent, if it has asked for progress. */
  progress(done: number, total?: number, message?: string): void;
}

/** The result of a tool: a text, blocks of content, or content with structured data. */
export type ToolResult =
  | string
  | readonly ContentBlock[]
  | {
      /** The content that a model reads. */
      readonly content: readonly ContentBlock[];
      /** The same result as data, for programs. */
      readonly structuredContent?: Readonly<Record<string, unknown>> | undefined;
      /** Whether the call has failed. */
      readonly isError?: boolean | undefined;
    }
  | undefined;

/** The definition of a tool, for `tool`. */
export interface ToolDefinition<Schema> {
  /** The name that models call: at most 128 letters, digits, `_`, `-`, `.` and `/`. */
  readonly name: string;
  /** Tells models what the tool does and when to use it. */
  readonly description: string;
  /** The title that people see. Default: the name. */
  readonly title?: string | undefined;
  /** The arguments: a JSON Schema of an object, or a Standard Schema that gives one. Default: no arguments. */
  readonly schema?: Schema | undefined;
  /** Whether the tool changes nothing. Default: false. */
  readonly readOnly?: boolean | undefined;
  /** Performs a call. The arguments match the schema. If it throws, the model reads the error. */
  run(input: ToolInput<Schema>, context: ToolContext): ToolResult | Promise<ToolResult>;
}

/** A tool, for `newSession({ tools })` and `agent({ mcpServers })`. */
export interface Tool {
  /** Always "tool". */
  readonly kind: "tool";
  /** The name that models call. */
  readonly name: string;
  /** What the tool does. */
  readonly description: string;
  /** The title that people see. */
  readonly title: string | undefined;
  /** The arguments. */
  readonly schema: ObjectSchema | StandardSchema | undefined;
  /** Whether the tool changes nothing. */
  readonly isReadOnly: boolean;
  /** Performs a call. */
  readonly run: (input: never, context: ToolContext) => ToolResult | Promise<ToolResult>;
}

/**
 * Defines a tool for agents.
 *
 * @param definition - The name, the description, the schema of the arguments, and the function.
 * @returns The tool. It runs when an agent calls it.
 * @throws {TypeError} When a field is missing or of the wrong kind.
 *
 * @example
 * ```ts
 * import { tool } from "@parley/mcp";
 *
 * export const openFile = tool({
 *   name: "open_file",
 *   description: "Shows a file to the user.",
 *   schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
 *   run: ({ path }, { sessionId }) => `opened ${path} for ${sessionId}`,
 * });
 * ```
 */
export function tool<const Schema extends ObjectSchema | StandardSchema>(
  definition: ToolDefinition<Schema>,
): Tool {
  const { name, description, title, schema, readOnly = false, run } = definition;
  if (typeof name !== "string" || !/^[\w./-]{1,128}$/.test(name)) {
    throw new TypeError(
      `tool: name: expected 1 to 128 letters, digits, "_", "-", "." or "/", got ${describeValue(name)}`,
    );
  }
  if (typeof description !== "string") throw wrong(name, "description", "a string", description);
  if (title !== undefined && typeof title !== "string") throw wrong(name, "title", "a string", title);
  if (typeof run !== "function") throw wrong(name, "run", "a function", run);
  if (schema !== undefined) checkSchema(name, schema);
  return { kind: "tool", name, description, title, schema, isReadOnly: readOnly === true, run };
}

/** Whether something was made by `tool`. */
export function isTool(value: unknown): value is Tool {
  return (
    typeof value === "object" && value !== null && "kind" in value && value.kind === "tool" && "run" in value
  );
}

function checkSchema(name: string, schema: unknown): void {
  if (typeof schema !== "object" || schema === null) {
    // arktype's schemas are functions
    if (typeof schema !== "function")
      throw wrong(name, "schema", "a JSON Schema or a Standard Schema", schema);
  }
  const standard = (schema as Partial<StandardSchema>)["~standard"]; // each field is checked
  if (standard === undefined) {
    const { type } = schema as { type?: unknown };
    if (type !== "object") throw wrong(name, "schema.type", '"object"', type);
    return;
  }
  if (typeof standard.jsonSchema !== "object" || standard.jsonSchema === null) {
    throw new TypeError(
      `tool ${name}: schema: this version of ${standard.vendor} cannot give its JSON Schema; update it, or pass a JSON Schema`,
    );
  }
}

function wrong(name: string, field: string, expected: string, got: unknown): TypeError {
  return new TypeError(`tool ${name}: ${field}: expected ${expected}, got ${describeValue(got)}`);
}
