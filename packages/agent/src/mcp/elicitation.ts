// What an MCP server asks of the user while one of its tools runs: passed on to the client, where it can show it.

import type { ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client";
import type { AgentSession, ElicitationAsk } from "@parley/acp";
import { asksForSecret, namesSecret, unlinked } from "../text/form-rules.ts";

/** The questions of one session's servers. */
export interface ServerQuestions {
  /** What a server is told that it may ask for; nothing where the client shows neither. */
  readonly offered:
    | { readonly form?: Record<string, never>; readonly url?: Record<string, never> }
    | undefined;
  ask(server: string, params: ElicitRequestParams): Promise<ElicitResult>;
  /** What the user was sent to a page for has been done there. */
  done(server: string, elicitationId: string): void;
}

export function questionsOf(session: AgentSession): ServerQuestions {
  const { elicitationForm, elicitationUrl } = session.clientFeatures;
  return {
    offered:
      elicitationForm || elicitationUrl
        ? { ...(elicitationForm && { form: {} }), ...(elicitationUrl && { url: {} }) }
        : undefined,
    async ask(server, params) {
      const { turn } = session;
      // nobody has asked the agent for anything: a question out of nowhere is none
      if (turn === undefined) return { action: "cancel" };
      // nobody is sent to where a click could run something
      if (params.mode === "url" && !isPage(params.url)) return { action: "decline" };
      // what is typed into a form goes through our hands; servers that need a secret have pages for that
      if (params.mode !== "url" && wantsSecret(params.message, params.requestedSchema))
        return { action: "decline" };
      const ask = askOf(server, params);
      const { action, ...answer } = await turn.elicit(ask);
      const content = action === "accept" && "content" in answer ? answer.content : undefined;
      // the library has compared it with the form
      return { action, ...(content != null && { content: content as NonNullable<ElicitResult["content"]> }) };
    },
    done(server, elicitationId) {
      try {
        session.completeElicitation(flowId(server, elicitationId));
      } catch {
        // the user has declined it, or nobody was asked
      }
    },
  };
}

function wantsSecret(message: string, { properties }: Fields): boolean {
  const fields = Object.entries((properties ?? {}) as Record<string, Fields>);
  const typed = fields.filter(
    ([, { type, enum: choices, oneOf }]) => type === "string" && !choices && !oneOf,
  );
  const labels = typed.flatMap(([name, { title, description, format }]) => [
    name,
    title,
    description,
    format,
  ]);
  if (labels.some((label) => typeof label === "string" && namesSecret(label))) return true;
  return typed.length > 0 && asksForSecret(message);
}

/** https, or http on this machine; nothing that hides another host, or credentials. */
function isPage(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.username !== "" || url.password !== "") return false;
  if (url.protocol === "https:") return true;
  return url.protocol === "http:" && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
}

/** Two servers may have the same. */
function flowId(server: string, id: string): string {
  return `${server}/${id}`;
}

/** The user must see who asks: a server could speak in our name. */
function askOf(server: string, params: ElicitRequestParams): ElicitationAsk {
  const message = `The MCP server ${server} asks: ${params.message}`;
  if (params.mode === "url") {
    return { mode: "url", message, url: params.url, elicitationId: flowId(server, params.elicitationId) };
  }
  return { mode: "form", message, requestedSchema: formOf(params.requestedSchema) };
}

type Form = Extract<ElicitationAsk, { mode: "form" }>["requestedSchema"];
type Fields = Readonly<Record<string, unknown>>;

const fieldKeys: Readonly<Record<string, readonly string[]>> = {
  string: ["minLength", "maxLength", "pattern", "format", "default", "enum", "oneOf"],
  number: ["minimum", "maximum", "default"],
  integer: ["minimum", "maximum", "default"],
  boolean: ["default"],
  array: ["minItems", "maxItems", "default"],
};

/** The same form in the words of our protocol, which has no field of its own beyond them. */
function formOf({ title, description, properties, required }: Fields): Form {
  const fields = Object.entries((properties ?? {}) as Record<string, Fields>).map(
    ([name, field]) => [name, fieldOf(field)] as const,
  );
  const form = {
    type: "object",
    ...picked({ title, description, required }, ["title", "description", "required"]),
  };
  return { ...form, properties: Object.fromEntries(fields) } as Form; // checked by the library before it is sent
}

function fieldOf(field: Fields): Fields {
  const type = String(field["type"]);
  const kept = withoutLinks(picked(field, ["type", "title", "description", ...(fieldKeys[type] ?? [])]));
  const { enum: values, enumNames: names, items } = field;
  // choices with names, as servers wrote them before there were titles
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

/** What is chosen stays as the server wrote it; what is shown is no link. */
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
