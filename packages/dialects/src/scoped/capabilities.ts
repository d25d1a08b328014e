// Translates what both sides say of themselves: their names, what they can do, and how to log in. Finds what a client lacks.

import type * as v1 from "@parley/acp/v1";
import { withMetaKeys, withoutMeta } from "../exchange/details.ts";
import type { Fields } from "../exchange/exchange.ts";
import { capabilitiesKey, extraKey, isObject, optional, RequestError } from "../exchange/library.ts";
import type * as scoped from "../wire/scoped/types.gen.ts";
import { booleanOf, countOf, detailText, dialectDetails, metaValue, metaWithDetails } from "./details.ts";

const customKey = "_custom";

/** The capabilities as they came stay in `_meta`, but for the custom ones, which have a key of their own. */
export function clientFromScoped(can: scoped.ClientCapabilities): v1.ClientCapabilities {
  const { _custom: custom, _meta, ...own } = can;
  return {
    fs: { readTextFile: can.fs?.read === true, writeTextFile: can.fs?.write === true },
    terminal: can.terminal?.create === true,
    // its options are JSON of any type
    session: { configOptions: { boolean: {} } },
    ...withMetaKeys({ _meta }, { [capabilitiesKey]: own, [customKey]: custom }),
  };
}

/** A client that never spoke the dialect shows questions, diffs and locations, and watches nothing. */
export function clientToScoped(can: v1.ClientCapabilities): scoped.ClientCapabilities {
  const said = metaValue(can, capabilitiesKey);
  const isOwn = !isObject(said);
  const { fs, terminal, ui } = partsOf(said, "fs", "terminal", "ui");
  const flag = (value: unknown, before: unknown): boolean | undefined =>
    isOwn || value === true || before !== undefined ? value === true : undefined;
  const uiFlag = (name: string): boolean | undefined => (isOwn ? true : booleanOf(ui?.[name]));
  return optional({
    fs: optional({
      read: flag(can.fs?.readTextFile, fs?.["read"]),
      write: flag(can.fs?.writeTextFile, fs?.["write"]),
      watch: isOwn ? false : booleanOf(fs?.["watch"]),
    }),
    terminal: optional({
      create: flag(can.terminal, terminal?.["create"]),
      interactive: isOwn ? false : booleanOf(terminal?.["interactive"]),
      maxConcurrent: countOf(terminal?.["maxConcurrent"]),
    }),
    ui:
      isOwn || ui !== undefined
        ? optional({
            permissionDialogs: uiFlag("permissionDialogs"),
            diffViewer: uiFlag("diffViewer"),
            codeNavigation: uiFlag("codeNavigation"),
          })
        : undefined,
    _custom: metaValue(can, customKey),
    ...withoutMeta(can, [capabilitiesKey, customKey]),
  });
}

export function agentFromScoped(can: scoped.AgentCapabilities): v1.AgentCapabilities {
  const { _custom: custom, _meta, ...own } = can;
  const transport = can.mcpCapabilities?.servers === false ? [] : (can.mcpCapabilities?.transport ?? []);
  return {
    loadSession: can.loadSession === true,
    // every block of the document may be in a prompt
    promptCapabilities: { image: true, audio: true, embeddedContext: true },
    mcpCapabilities: {
      http: transport.includes("http"),
      sse: transport.includes("sse"),
      ...(transport.includes("acp") ? { acp: true } : {}),
    },
    sessionCapabilities: { systemPrompt: {} },
    ...withMetaKeys({ _meta }, { [capabilitiesKey]: own, [customKey]: custom }),
  };
}

/** `modes` and `configOptions`: the names, undefined where they are not known before a session. */
export function agentToScoped(
  can: v1.AgentCapabilities,
  { modes, configOptions }: { modes: string[] | undefined; configOptions: string[] | undefined },
): scoped.AgentCapabilities {
  const said = metaValue(can, capabilitiesKey);
  const isOwn = !isObject(said);
  const parts = partsOf(said, "mcpCapabilities", "promptCapabilities", "sessionCapabilities");
  const { mcpCapabilities: mcp, promptCapabilities: prompt, sessionCapabilities: session } = parts;
  const load = can.loadSession === true;
  const transports = ["stdio", ...(can.mcpCapabilities?.http ? ["http"] : [])];
  if (can.mcpCapabilities?.sse) transports.push("sse");
  if (can.mcpCapabilities?.acp) transports.push("acp");
  const known = (name: string): boolean | undefined => (isOwn ? true : booleanOf(prompt?.[name]));
  const names = (list: string[] | undefined, field: string): string[] | undefined =>
    list !== undefined && list.length > 0 ? list : isOwn ? [] : textsOf(session?.[field]);
  return optional({
    loadSession: isOwn || load || said["loadSession"] !== undefined ? load : undefined,
    mcpCapabilities: isOwn
      ? { servers: true, transport: transports }
      : mcp && optional({ servers: booleanOf(mcp["servers"]), transport: textsOf(mcp["transport"]) }),
    promptCapabilities:
      isOwn || prompt !== undefined
        ? optional({
            streaming: known("streaming"),
            cancellation: known("cancellation"),
            attachments: known("attachments"),
          })
        : undefined,
    sessionCapabilities:
      isOwn || session !== undefined
        ? optional({
            modes: names(modes, "modes"),
            configOptions: names(configOptions, "configOptions"),
            persistence: isOwn ? load : booleanOf(session?.["persistence"]),
          })
        : undefined,
    _custom: metaValue(can, customKey),
    ...withoutMeta(can, [capabilitiesKey, customKey]),
  });
}

/** Refuses to go on without what the agent requires, with a sentence that names it. */
export function requireOffered(
  required: scoped.ClientCapabilities | null | undefined,
  offered: scoped.ClientCapabilities,
): void {
  const missing = lacking(required ?? {}, offered, "");
  if (missing.length === 0) return;
  const message = `the agent requires ${missing.join(", ")}, which the client does not offer`;
  const data = { reason: "method_not_found", missing };
  throw new RequestError("method_not_found", message, { data });
}

function lacking(required: object, offered: object, path: string): string[] {
  // fields that the document does not have are required too
  const unknown = metaValue(required, extraKey);
  const all = [required, isObject(unknown) ? unknown : {}].flatMap((each) => Object.entries(each));
  return all.flatMap(([name, wanted]) => {
    if (name === "_meta") return [];
    const has = (offered as Fields)[name]; // any object may be read by name
    if (isObject(wanted)) return lacking(wanted, isObject(has) ? has : {}, `${path}${name}.`);
    const isEnough = typeof wanted === "number" ? has === undefined || Number(has) >= wanted : has === true;
    return wanted === false || wanted == null || isEnough ? [] : [`${path}${name}`];
  });
}

function partsOf<Name extends string>(said: unknown, ...names: readonly Name[]): { [name in Name]?: Fields } {
  const parts: { [name in Name]?: Fields } = {};
  for (const name of names) {
    const part = isObject(said) ? said[name] : undefined;
    if (isObject(part)) parts[name] = part;
  }
  return parts;
}

function textsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : undefined;
}

export const implementation = {
  fromScoped(info: scoped.Implementation): v1.Implementation {
    const { name, version } = info;
    const title = detailText(dialectDetails(info)?.["title"]);
    return { name, version, ...optional({ title }), ...metaWithDetails(info, {}) };
  },
  /** The dialect demands a name and a version. */
  toScoped(info: v1.Implementation | null | undefined): scoped.Implementation {
    if (info == null) return { name: "unknown", version: "0" };
    const { name, version, title } = info;
    return { name, version, ...metaWithDetails(info, { title }) };
  },
};

/** The methods of section 4.2. An agent does not say which of them it takes. */
export const documentedLogins: readonly v1.AuthMethod[] = [
  { id: "api_key", name: "API key" },
  { id: "oauth2", name: "OAuth 2.0" },
  { id: "custom", name: "Custom credentials" },
];

/** Whether nothing is to be said of these logins: the other side assumes the same. */
export function areDocumented(logins: readonly v1.AuthMethod[]): boolean {
  return logins.length === 0 || JSON.stringify(logins) === JSON.stringify(documentedLogins);
}

/** The logins of our agent by the document's names: its clients are not told others. */
export class LoginNames {
  readonly #ids: readonly string[];
  readonly #key: string | undefined;

  constructor(logins: readonly v1.AuthMethod[]) {
    // a login in a terminal is not asked for by a message
    this.#ids = logins.flatMap((login) => ("type" in login && login.type === "terminal" ? [] : [login.id]));
    const keys = this.#ids.filter((id) => /key$/i.test(id));
    this.#key = keys.length === 1 && !this.#ids.includes("api_key") ? keys[0] : undefined;
  }

  /** `api_key` is the one login of the agent by a key. */
  ours(name: string): string {
    return name === "api_key" ? (this.#key ?? name) : name;
  }

  has(id: string): boolean {
    return this.#ids.includes(id);
  }

  toString(): string {
    return this.#ids.map((id) => (id === this.#key ? "api_key" : id)).join(", ") || "none";
  }
}
