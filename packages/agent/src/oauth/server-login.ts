// The login to one MCP server: gives its token to requests, and renews it.

import type { AuthProvider, FetchLike, StoredOAuthTokens } from "@modelcontextprotocol/client";
import { oneLine } from "../text/safe-text.ts";
import type { LoginFiles, LoginRecord } from "./login-files.ts";
import { OAuthRefusal, oauthFetch } from "./oauth-fetch.ts";

/** A client that the user registered with the authorisation server. */
export interface OwnClient {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly scope?: string;
  /** The port of the address that was registered. Default: a free one. */
  readonly callbackPort?: number;
}

export interface ServerLoginOptions {
  readonly url: string;
  readonly files: LoginFiles;
  /** Refuses private addresses that the user did not name. */
  readonly fetch: FetchLike;
  readonly client?: OwnClient;
  /** Called with each token, which must not be shown. */
  hide(secrets: readonly string[]): void;
}

/** What the server said when it refused a request. */
interface Challenge {
  readonly resourceMetadataUrl?: URL;
  readonly scope?: string;
}

/** The user has to log in. */
export class LoginNeeded extends Error {
  constructor() {
    super("it needs a login");
    this.name = "LoginNeeded";
  }
}

/** The login could not be renewed. The message begins in the middle of a sentence about the server. */
export class RenewalError extends Error {
  constructor(why: string) {
    super(`its login could not be renewed: ${oneLine(why)}`);
    this.name = "RenewalError";
  }
}

/** A token that ends this soon is renewed first. */
const marginMs = 30_000;
/** The authorisation server does not accept the refresh token, or does not know us any more. */
const refusals = ["invalid_grant", "invalid_client", "unauthorized_client"];

export class ServerLogin implements AuthProvider {
  readonly options: ServerLoginOptions;
  /** What the server wanted, and the token that it did not take. */
  #wanted: { readonly challenge: Challenge; readonly token: string | undefined } | undefined;
  /** The token of the last request. */
  #sent: string | undefined;
  #renewing: Promise<boolean> | undefined;

  constructor(options: ServerLoginOptions) {
    this.options = options;
  }

  /** Whether a login is stored. */
  get isStored(): boolean {
    return this.#record() !== undefined;
  }

  /** Set while the server wants a login, or one with more rights, and the user has not logged in since. */
  get needed(): Challenge | undefined {
    return this.#wanted?.token === this.#record()?.tokens.access_token ? this.#wanted?.challenge : undefined;
  }

  /** The server wants these rights, with blanks between them. */
  needsMore(scope: string): void {
    const { tokens } = this.#record() ?? {};
    const scopes = new Set(`${tokens?.scope ?? ""} ${scope}`.split(" ").filter((each) => each !== ""));
    this.#wanted = { challenge: { scope: [...scopes].join(" ") }, token: tokens?.access_token };
  }

  async token(): Promise<string | undefined> {
    const record = this.#record();
    this.#sent = record?.tokens.access_token;
    if (record?.expiresAt !== undefined && record.expiresAt - marginMs < Date.now()) {
      // the server decides about a token that could not be renewed
      await this.#renew().catch(() => undefined);
      this.#sent = this.#record()?.tokens.access_token;
    }
    return this.#sent;
  }

  /** Renews the token, or throws LoginNeeded. */
  async onUnauthorized({ response }: { readonly response: Response }): Promise<void> {
    const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    if (await this.#renew()) return;
    const challenge = { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope && { scope }) };
    this.#wanted = { challenge, token: undefined };
    throw new LoginNeeded();
  }

  /** Stores what a login gave. */
  store(record: Omit<LoginRecord, "url" | "expiresAt">): void {
    this.options.files.write({ ...record, url: this.options.url, ...expiry(record.tokens) });
    this.#wanted = undefined;
    this.#record();
  }

  async #renew(): Promise<boolean> {
    if (!this.isStored) return false;
    const { files, url } = this.options;
    // requests that fail at the same time share one renewal
    this.#renewing ??= files
      .locked(url, () => this.#renewed(this.#sent))
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  /** False when there is nothing to renew it with. `used` is the token that was refused. */
  async #renewed(used: string | undefined): Promise<boolean> {
    const { files, url, fetch } = this.options;
    const record = this.#record();
    if (record === undefined) return false;
    // another process has renewed it, or the user has logged in again
    if (record.tokens.access_token !== used) return true;
    const { refresh_token: refreshToken } = record.tokens;
    if (refreshToken === undefined) {
      // the server does not take it any more
      files.remove(url);
      return false;
    }
    const { refreshAuthorization } = await import("@modelcontextprotocol/client");
    const {
      authorizationServerUrl,
      authorizationServerMetadata: metadata,
      resourceMetadata,
    } = record.discovery;
    try {
      const fresh = await refreshAuthorization(authorizationServerUrl, {
        ...(metadata && { metadata }),
        clientInformation: record.client,
        refreshToken,
        ...(resourceMetadata && { resource: resourceMetadata.resource }),
        fetchFn: oauthFetch(fetch).fetch,
      });
      const tokens = { ...record.tokens, ...fresh };
      const { expiresAt: _, ...kept } = record;
      files.write({ ...kept, tokens, ...expiry(tokens) });
      this.#record();
      return true;
    } catch (error) {
      if (!(error instanceof OAuthRefusal && refusals.includes(error.code ?? ""))) {
        throw new RenewalError(error instanceof Error ? error.message : String(error));
      }
      // unless somebody without our lock was quicker
      const now = this.#record();
      if (now !== undefined && now.tokens.access_token !== used) return true;
      files.remove(url);
      return false;
    }
  }

  /** Reads what is stored, and hides it. */
  #record(): LoginRecord | undefined {
    const record = this.options.files.read(this.options.url);
    if (record !== undefined) this.options.hide(secretsOf(record));
    return record;
  }
}

function secretsOf({ tokens, client }: Pick<LoginRecord, "tokens" | "client">): string[] {
  const { client_secret: secret } = client as { readonly client_secret?: unknown }; // registered ones may have it
  return [tokens.access_token, tokens.refresh_token, tokens.id_token, secret].filter(
    (each) => typeof each === "string",
  );
}

function expiry({ expires_in: seconds }: StoredOAuthTokens): { expiresAt?: number } {
  return typeof seconds === "number" ? { expiresAt: Date.now() + seconds * 1000 } : {};
}
