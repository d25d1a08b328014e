// Defines a tool: validates its arguments and reports protocol errors to the model.

import { RequestError } from "@parley/acp";
import type { TextPart } from "../../model/model.ts";
import { checkedArguments, type Schema, type ValueOf } from "./arguments.ts";
import { type PreparedCall, type Tool, type ToolContext, ToolError } from "./tool.ts";

type Properties = Readonly<Record<string, Schema>>;

interface ToolDefinition<P extends Properties, R extends readonly (keyof P)[]> {
  readonly name: string;
  readonly description: string;
  readonly isReadOnly: boolean;
  /** JSON Schemas of the arguments. */
  readonly properties: P;
  readonly required: R;
  prepare(
    input: ValueOf<{ type: "object"; properties: P; required: R }>,
    context: ToolContext,
  ): Promise<PreparedCall> | PreparedCall;
}

export function defineTool<const P extends Properties, const R extends readonly (keyof P & string)[]>(
  definition: ToolDefinition<P, R>,
): Tool {
  const { name, description, isReadOnly, properties, required } = definition;
  const inputSchema = { type: "object", properties, required, additionalProperties: false } as const;
  return {
    name,
    description,
    inputSchema,
    isReadOnly,
    async prepare(input, context) {
      const checked = checkedArguments(name, inputSchema, input);
      const prepared = await withToolErrors(async () => definition.prepare(checked, context));
      return { ...prepared, run: (run) => withToolErrors(() => prepared.run(run)) };
    },
  };
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
