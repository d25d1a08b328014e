// The frame of every tool: arguments are checked before it sees them, and what files, terminals and the network
// say in a RequestError is told to the model in the same words.

import { RequestError } from "@parley/acp";
import type { TextPart } from "../../model/model.ts";
import { checkedArguments, type ObjectSchema, type ValueOf } from "./arguments.ts";
import { type PreparedCall, type Tool, type ToolContext, ToolError } from "./tool.ts";

interface ToolDefinition<S extends ObjectSchema> {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: S;
  readonly isReadOnly: boolean;
  prepare(input: ValueOf<S>, context: ToolContext): Promise<PreparedCall> | PreparedCall;
}

export function defineTool<const S extends ObjectSchema>(definition: ToolDefinition<S>): Tool {
  const { name, description, inputSchema, isReadOnly } = definition;
  return {
    name,
    description,
    // a schema is plain data, and models are told of it as such
    inputSchema: inputSchema as unknown as Readonly<Record<string, unknown>>,
    isReadOnly,
    async prepare(input, context) {
      const checked = checkedArguments(name, inputSchema, input);
      const prepared = await inWords(async () => definition.prepare(checked, context));
      return { ...prepared, run: (run) => inWords(() => prepared.run(run)) };
    },
  };
}

async function inWords<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof RequestError ? new ToolError(wordsOf(error), { cause: error }) : error;
  }
}

/** Clients on the official SDK say "Internal error", and what went wrong beside it. */
function wordsOf({ message, data }: RequestError): string {
  const details = (data as { details?: unknown } | null | undefined)?.details;
  return typeof details === "string" && details !== "" ? `${message}: ${details.slice(0, 1_000)}` : message;
}

export function textPart(text: string): TextPart {
  return { type: "text", text };
}
