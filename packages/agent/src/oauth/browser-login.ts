// A login in the user's browser: finds the authorisation server, registers with it and exchanges its code for tokens.

import { randomBytes } from "node:crypto";
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { abortable } from "@parley/acp/jsonrpc";
import { isPage } from "../network/public-addresses.ts";
import { type CallbackAnswer, listenForCallback } from "./callback-server.ts";
import { oauthFetch } from "./oauth-fetch.ts";
import type { OwnClient, ServerLogin } from "./server-login.ts";

/** A login that the user finishes in a browser. */
export interface BrowserLogin {
  /** The page to open. */
  readonly page: string;
  /** Resolves when the user has logged in and the tokens are stored. Rejects with an Error for the user. */
  finish(signal: AbortSignal): Promise<void>;
  /** Takes the address that a browser on another machine was led to. False if it is not of this login. */
  take(address: string): boolean;
  /** Ends the login and frees its address. */
  close(): void;
}

/** Nobody logs in for longer. */
const longestMs = 10 * 60_000;

/** Rejects with an Error for the user. `mayOpen` rejects for a page at an address that may not be used. */
export async function beginLogin(
  login: ServerLogin,
  mayOpen: (page: URL) => Promise<unknown>,
): Promise<BrowserLogin> {
  const { url: serverUrl, client = {} } = login.options;
  const requests = oauthFetch(login.options.fetch);
  const fetchFn = requests.fetch;
  const { auth, IssuerMismatchError } = await import("@modelcontextprotocol/client");
  const state = randomBytes(32).toString("base64url");
  const callback = await listenForCallback(state, client.callbackPort);
  try {
    const flow = new Flow(callback.url, state, client);
    const { resourceMetadataUrl, scope = client.scope } = login.needed ?? {};
    const common = { serverUrl, fetchFn, ...(resourceMetadataUrl && { resourceMetadataUrl }) };
    await auth(flow, { ...common, ...(scope && { scope }) });
    const { page } = flow;
    if (page === undefined || !isPage(page.href))
      throw new Error("its login page must be at https://, or on this machine");
    await mayOpen(page);
    return {
      page: page.href,
      async finish(signal) {
        const late = AbortSignal.timeout(longestMs);
        const limit = AbortSignal.any([signal, late]);
        try {
          const { code, iss }: CallbackAnswer = await abortable(limit, callback.answer);
          await abortable(limit, auth(flow, { ...common, authorizationCode: code, ...(iss && { iss }) }));
        } catch (error) {
          if (late.aborted) throw new Error("nobody logged in within 10 minutes");
          // its text quotes what a stranger sent
          if (IssuerMismatchError.isInstance(error))
            throw new Error("the answer did not come from the server where the login began");
          throw requests.refusedHost ?? error;
        }
        login.store(flow.result());
      },
      take: (address) => callback.take(address),
      close: () => callback.close(),
    };
  } catch (error) {
    callback.close();
    throw requests.refusedHost ?? error;
  }
}

/** One login. It keeps nothing: a new registration has the address of this callback, which not every server takes otherwise. */
class Flow implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadata: OAuthClientMetadata;
  page: URL | undefined;
  readonly #state: string;
  #client: StoredOAuthClientInformation | undefined;
  #tokens: StoredOAuthTokens | undefined;
  #discovery: OAuthDiscoveryState | undefined;
  #verifier = "";

  constructor(redirectUrl: string, state: string, { clientId, clientSecret, scope }: OwnClient) {
    this.redirectUrl = redirectUrl;
    this.#state = state;
    this.clientMetadata = {
      client_name: "Parley",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: clientSecret === undefined ? "none" : "client_secret_post",
      ...(scope && { scope }),
    };
    if (clientId !== undefined)
      this.#client = { client_id: clientId, ...(clientSecret && { client_secret: clientSecret }) };
  }

  /** Call it after the exchange. */
  result(): {
    client: StoredOAuthClientInformation;
    tokens: StoredOAuthTokens;
    discovery: OAuthDiscoveryState;
  } {
    if (this.#client === undefined || this.#tokens === undefined || this.#discovery === undefined)
      throw new Error("the login returned no token");
    return { client: this.#client, tokens: this.#tokens, discovery: this.#discovery };
  }

  state(): string {
    return this.#state;
  }

  clientInformation(context?: { readonly issuer: string }): StoredOAuthClientInformation | undefined {
    return this.#client && { ...this.#client, ...(context && { issuer: context.issuer }) };
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client;
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens;
  }

  redirectToAuthorization(page: URL): void {
    this.page = page;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.#discovery = discovery;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }
}
