// Translates the names of programs, and the logins that the dialect does not list.

import { optional } from "../../base/objects.ts";
import type * as scoped from "../../wire/scoped/types.gen.ts";
import type * as v1 from "../../wire/v1/types.gen.ts";
import { dialectDetails, metaWithDetails, textOf } from "./details.ts";

export const implementation = {
  fromScoped(info: scoped.Implementation): v1.Implementation {
    const { name, version } = info;
    const title = textOf(dialectDetails(info)?.["title"]);
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
