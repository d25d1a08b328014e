// Passes the questions of MCP servers on to the client.

import type { ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client";
import type { AgentSession, ElicitationRequest } from "@parley/acp";
import { isPage } from "../network/public-addresses.ts";
import { asksForSecret, namesSecret, unlinked } from "../text/safe-text.ts";

export type ServerQuestions = ReturnType<typeof questionsOf>;

export function questionsOf(session: AgentSession) {
  const { elicitationForm, elicitationUrl } = session.clientCapabilities;
  return {
    /** The elicitation modes offered to servers; undefined when the client has none. */
    offered:
      elicitationForm || elicitationUrl
        ? { ...(elicitationForm && { form: {} }), ...(elicitationUrl && { url: {} }) }
        : undefined,
    async ask(server: string, params: ElicitRequestParams): Promise<ElicitResult> {
      const { turn } = session;
      // without a turn there is no one to ask
      if (turn === undefined) return { action: "cancel" };
      // only web pages are opened
      if (params.mode === "url" && !isPage(params.url)) return { action: "decline" };
      // form answers pass through us, so forms must not ask for secrets
      if (params.mode !== "url" && wantsSecret(params.message, params.requestedSchema))
        return { action: "decline" };
      const ask = askOf(server, params);
      const { action, ...answer } = await turn.elicit(ask);
      const content = action === "accept" && "content" in answer ? answer.content : undefined;
      // the library has validated it against the form
      return { action, ...(content != null && { content: content as NonNullable<ElicitResult["content"]> }) };
    },
    /** Reports that the user has finished a URL elicitation. */
    done(server: string, elicitationId: string): void {
      try {
        session.completeElicitation(flowId(server, elicitationId));
      } catch {
        // declined or unknown
      }
    },
  };
}

function wantsSecret(message: string, { properties }: Fields): boolean {
  const fields = Object.entries((properties ?? {}) as Record<string, Fields>);
  const typed = fields.filter(
    ([, { type, enum: choices, oneOf }]) => type === "string" && !choices && !oneOf,
  );
  const labels = typed.flatMap(([name, field]) => [
    name,
    field["title"],
    field["description"],
    field["format"],
  ]);
  if (labels.some((label) => typeof label === "string" && namesSecret(label))) return true;
  return typed.length > 0 && asksForSecret(message);
}

/** Makes the ids of different servers distinct. */
function flowId(server: string, id: string): string {
  return `${server}/${id}`;
}

/** Names the server, so that it cannot pretend to be the agent. */
function askOf(server: string, params: ElicitRequestParams): ElicitationRequest {
  const message = `The MCP server ${server} asks: ${params.message}`;
  if (params.mode === "url") {
    return { mode: "url", message, url: params.url, elicitationId: flowId(server, params.elicitationId) };
  }
  return { mode: "form", message, requestedSchema: formOf(params.requestedSchema) };
}

type Form = Extract<ElicitationRequest, { mode: "form" }>["requestedSchema"];
type Fields = Readonly<Record<string, unknown>>;

const fieldKeys: Readonly<Record<string, readonly string[]>> = {
  string: ["minLength", "maxLength", "pattern", "format", "default", "enum", "oneOf"],
  number: ["minimum", "maximum", "default"],
  integer: ["minimum", "maximum", "default"],
  boolean: ["default"],
  array: ["minItems", "maxItems", "default"],
};

/** Converts the form, keeping only the fields that ACP has. */
function formOf({ title, description, properties, required }: Fields): Form {
  const fields = Object.entries((properties ?? {}) as Record<string, Fields>).map(
    ([name, field]) => [name, fieldOf(field)] as const,
  );
  const form = picked({ title, description, required }, ["title", "description", "required"]);
  // the library checks it before it is sent
  return { type: "object", ...form, properties: Object.fromEntries(fields) } as Form;
}

function fieldOf(field: Fields): Fields {
  const type = String(field["type"]);
  const kept = withoutLinks(picked(field, ["type", "title", "description", ...(fieldKeys[type] ?? [])]));
  const { enum: values, enumNames: names, items } = field;
  // the older form of named choices
  if (type === "string" && Array.isArray(values) && Array.isArray(names)) {
    const { enum: _, ...others } = kept;
    const oneOf = values.map((value, i) => ({
      const: String(value),
      title: unlinked(String(names[i] ?? value)),
    }));
    return { ...others, oneOf };
  }
  if (type !== "array") return kept;
  const { anyOf, oneOf = anyOf, enum: choices } = (items ?? {}) as Fields;
  return { ...kept, items: oneOf === undefined ? { type: "string", enum: choices } : { anyOf: oneOf } };
}

/** Removes links from shown texts, but not from the values to choose. */
function withoutLinks({ default: preset, ...field }: Fields): Fields {
  const texts = Object.fromEntries(
    ["title", "description"].flatMap((key) => {
      const text = field[key];
      return typeof text === "string" ? [[key, unlinked(text)]] : [];
    }),
  );
  const isLink = typeof preset === "string" && unlinked(preset) !== preset;
  return { ...field, ...texts, ...(preset === undefined || isLink ? {} : { default: preset }) };
}

function picked(from: Fields, keys: readonly string[]): Fields {
  return Object.fromEntries(keys.flatMap((key) => (from[key] == null ? [] : [[key, from[key]]])));
}
