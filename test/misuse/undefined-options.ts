// Options that are undefined mean the same as options that are left out, also with exactOptionalPropertyTypes.

import type {
  AgentDefinition,
  ClientDefinition,
  PermissionOptions,
  PromptOptions,
  SessionOptions,
  ToolCallStart,
} from "@parley/acp";
import type { ConnectionOptions } from "@parley/acp/jsonrpc";
import type { CreateTerminalOptions, ReadTextOptions } from "@parley/acp/model";
import type {
  LocalFilesOptions,
  LocalTerminalsOptions,
  SpawnTransportOptions,
  SqliteStoreOptions,
  StdioTransportOptions,
} from "@parley/acp/node";
import type { RedactorOptions } from "@parley/acp/redact";
import type { RelayOptions } from "@parley/acp/relay";
import type { HttpTransportOptions, WebSocketTransportOptions } from "@parley/acp/transport";
import type { CodingAgentOptions } from "@parley/agent";
import type { ConnectAgentOptions } from "@parley/client";
import type { HistoryOptions } from "@parley/client/history";
import type { PermissionPolicyOptions } from "@parley/client/policy";
import type { ScriptedAgentOptions } from "@parley/conformance/testing";

/** The optional keys of a type, all of them undefined. */
type Undefined<Options> = {
  readonly [Key in keyof Options as Record<never, never> extends Pick<Options, Key> ? Key : never]: undefined;
};
type Group<Definition, Name extends keyof Definition> = NonNullable<Definition[Name]>;

export declare const agents: Undefined<AgentDefinition>;
export declare const clients: Undefined<ClientDefinition>;
agents satisfies Partial<AgentDefinition>;
clients satisfies Partial<ClientDefinition>;

declare function accepts<Options>(options: Undefined<Options> extends Partial<Options> ? true : false): void;

accepts<Group<AgentDefinition, "session">>(true);
accepts<Group<AgentDefinition, "auth">>(true);
accepts<Group<AgentDefinition, "promptCapabilities">>(true);
accepts<Group<AgentDefinition, "connection">>(true);
accepts<Group<AgentDefinition, "extensions">>(true);
accepts<Group<ClientDefinition, "auth">>(true);
accepts<Group<ClientDefinition, "connection">>(true);
accepts<SessionOptions>(true);
accepts<PromptOptions>(true);
accepts<PermissionOptions>(true);
accepts<ToolCallStart>(true);
accepts<ConnectionOptions>(true);
accepts<ReadTextOptions>(true);
accepts<CreateTerminalOptions>(true);
accepts<LocalFilesOptions>(true);
accepts<LocalTerminalsOptions>(true);
accepts<SpawnTransportOptions>(true);
accepts<StdioTransportOptions>(true);
accepts<SqliteStoreOptions>(true);
accepts<HttpTransportOptions>(true);
accepts<WebSocketTransportOptions>(true);
accepts<RedactorOptions>(true);
accepts<RelayOptions>(true);
accepts<ScriptedAgentOptions>(true);
accepts<CodingAgentOptions>(true);
accepts<ConnectAgentOptions>(true);
accepts<HistoryOptions>(true);
accepts<PermissionPolicyOptions>(true);
