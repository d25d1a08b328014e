// What an agent says about its login, its model providers and its sessions, the same in every version.

import type { Meta, StateUpdate, UnknownTag } from "./types.gen.ts";

/**
 * Whether the agent can open sessions without a login. "authenticated" means that there are credentials, which may be
 * out of date.
 */
export type AuthState = "authenticated" | "unauthenticated" | "not_required" | "unknown";

/** An account or a key that the agent has. All of it is for display: it identifies nothing, and does not belong in logs. */
export interface AuthAccount {
  /** The name of the account, such as "Claude Max" or "OpenAI API key". */
  readonly label: string;
  /** Whether the agent uses it by default. */
  readonly active?: boolean;
  /** The name of the user. */
  readonly name?: string;
  /** The email address of the user. */
  readonly email?: string;
  /** The organization of the account. */
  readonly organization?: string;
  /** Custom data of the account. */
  readonly _meta?: Meta;
}

/** The login of an agent. */
export interface AuthStatus {
  /** Whether a login is needed. A state that this client does not know is "unknown". */
  readonly state: AuthState;
  /** The accounts of the agent, for display. */
  readonly accounts?: readonly AuthAccount[];
  /** Custom data of the answer. */
  readonly _meta?: Meta;
}

/** The protocol of a model provider. Newer peers know more: give a `switch` over it a `default:`. */
export type ProviderProtocol =
  | "anthropic"
  | "openai"
  | "azure"
  | "vertex"
  | "bedrock"
  | `_${string}`
  | UnknownTag;

/** A model provider of an agent that a client can configure. */
export interface Provider {
  /** The id of the provider, such as "main". */
  readonly providerId: string;
  /** The protocols that it can be used with. */
  readonly supported: readonly ProviderProtocol[];
  /** Whether the agent needs it. Such a provider cannot be disabled. */
  readonly required: boolean;
  /** Where requests go now. Absent for a provider that is disabled. */
  readonly current?: {
    /** The protocol. */
    readonly apiType: ProviderProtocol;
    /** The address that requests go to. */
    readonly baseUrl: string;
    /** Custom data of the setting. */
    readonly _meta?: Meta;
  };
  /** Custom data of the provider. */
  readonly _meta?: Meta;
}

/** The whole new setting of a provider. */
export interface ProviderSetting {
  /** The id of the provider. */
  readonly providerId: string;
  /** One of the protocols that the provider supports. */
  readonly apiType: ProviderProtocol;
  /** The address that requests go to. */
  readonly baseUrl: string;
  /** The headers of requests, all of them. They may be secret. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Custom data of the request. */
  readonly _meta?: Meta;
}

/** Whether the agent has a session in memory. */
export interface SessionStatus {
  /** "open" if it is in memory, for any connection; "saved" if it is only stored. */
  readonly status: "open" | "saved";
  /** The state of an open session. Absent on v1, and where the agent does not say: this does not mean idle. */
  readonly state?: StateUpdate;
  /** Custom data of the answer. */
  readonly _meta?: Meta;
}

/** "exclude" leaves archived sessions out, "include" lists all, "only" lists archived ones. */
export type ArchiveFilter = "exclude" | "include" | "only";
