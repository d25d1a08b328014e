// The interface of a client's connection, as @parley/acp has it; replaced by an import when that package exports it.

import type {
  AgentCapabilities,
  AgentCounters,
  AuthMethod,
  SessionOptions as BaseOptions,
  ClientSession,
  ConnectionError,
  Edition,
  Implementation,
  SessionPage,
} from "@parley/acp";

interface Abortable {
  readonly signal?: AbortSignal;
}

export type SessionOptions = BaseOptions & Abortable;

export interface ClientConnection {
  readonly info: Implementation | undefined;
  readonly capabilities: AgentCapabilities;
  readonly authMethods: readonly AuthMethod[];
  readonly edition: Edition;
  readonly counters: AgentCounters;
  readonly closed: Promise<ConnectionError>;
  newSession(options: SessionOptions): Promise<ClientSession>;
  loadSession(sessionId: string, options: SessionOptions): Promise<ClientSession>;
  resumeSession(sessionId: string, options: SessionOptions): Promise<ClientSession>;
  forkSession(sessionId: string, options: SessionOptions): Promise<ClientSession>;
  listSessions(query?: { readonly cwd?: string; readonly cursor?: string } & Abortable): Promise<SessionPage>;
  deleteSession(sessionId: string, options?: Abortable): Promise<void>;
  login(methodId: string, options?: Abortable): Promise<void>;
  logout(options?: Abortable): Promise<void>;
  request(method: `_${string}`, params?: unknown, options?: Abortable): Promise<unknown>;
  notify(method: `_${string}`, params?: unknown): Promise<void>;
  close(reason?: string): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
