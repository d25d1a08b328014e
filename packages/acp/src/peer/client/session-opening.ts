// Opens sessions: sends the request, and installs the session before any later message is handled.

import { optional } from "../../base/objects.ts";
import type { Activation, SessionSetup, WireCall } from "../../edition/agent-edition.ts";
import type { ClientEdition } from "../../edition/client-edition.ts";
import { MessageNames, type MessageNamesState } from "../../edition/message-names.ts";
import type { UnstableFeatures } from "../../validation/unstable-features.ts";
import type { SessionTools } from "../mcp/client-servers.ts";
import { namelessSession } from "./activation.ts";
import { abortableCall, abortError } from "./call-arguments.ts";
import type { SessionOptions } from "./client-connection.ts";
import type { ClientDispatch } from "./client-dispatch.ts";
import type { CallHooks, ClientWire } from "./client-wire.ts";
import { ConnectedSession } from "./connected-session.ts";
import { callHooks } from "./pending-call.ts";
import type { ClientSession } from "./session/client-session.ts";
import type { OpenSessionSettings } from "./session/session-settings.ts";
import type { ConnectedSessionState } from "./session/session-snapshot.ts";
import type { SessionRequests } from "./session-requests.ts";

interface SessionOpeningParts {
  readonly wire: ClientWire;
  readonly dispatch: ClientDispatch;
  readonly edition: ClientEdition;
  readonly requests: SessionRequests;
  readonly settings: OpenSessionSettings;
  readonly unstable: UnstableFeatures;
}

/** The options of a call that opens a session. `isKnown`: it was open before, and the call was sent then. */
export type OpeningOptions = SessionOptions & CallHooks & { readonly isKnown?: boolean };

/** Makes the request that opens a session. */
export type OpeningCall = (opening: Activation) => WireCall;

export class SessionOpening {
  readonly #parts: SessionOpeningParts;
  /** Also of sessions that were closed: one that is opened again has the same messages. */
  readonly #names = new Map<string, MessageNames>();

  constructor(parts: SessionOpeningParts) {
    this.#parts = parts;
  }

  /** The names of the messages of each session, as JSON. */
  get names(): Readonly<Record<string, MessageNamesState>> {
    return Object.fromEntries([...this.#names].map(([sessionId, names]) => [sessionId, names.state]));
  }

  /** Goes on with names and sessions of a state. */
  restore(
    names: Readonly<Record<string, MessageNamesState>>,
    sessions: readonly ConnectedSessionState[],
  ): void {
    const { dispatch, edition, requests, settings, unstable } = this.#parts;
    for (const [sessionId, state] of Object.entries(names))
      this.#names.set(sessionId, new MessageNames(state));
    for (const state of sessions) {
      const ofEdition = edition.session(unstable, this.#namesOf(state.sessionId), state.edition);
      dispatch.install(new ConnectedSession(state, requests, ofEdition, settings, state));
    }
  }

  /** Gives the session its tools before the request that opens it. */
  open(
    method: string,
    options: OpeningOptions,
    opening: Activation,
    call: OpeningCall,
    sessionId?: string,
  ): Promise<ClientSession> {
    const { servers } = this.#parts.dispatch;
    return servers.open(method, options.tools, { opening, sessionId }, (given, tools) =>
      this.#named(options, call(given), tools, sessionId),
    );
  }

  /** Sends a request whose answer names a session, and installs it before any later message is handled. */
  #named(
    options: OpeningOptions,
    { method, params }: WireCall,
    tools: SessionTools | undefined,
    sessionId: string | undefined,
  ): Promise<ClientSession> {
    const { wire, dispatch, edition } = this.#parts;
    const { signal, resumed, lastKnown: known = { configOptions: [], availableCommands: [] } } = options;
    return dispatch.naming(async () => {
      if (signal?.aborted) throw abortError(signal, method);
      // history comes before the answer: the session is there to receive it
      const { isKnown = sessionId !== undefined && dispatch.find(sessionId) !== undefined } = options;
      const early = sessionId === undefined ? undefined : this.#install({ sessionId, ...known }, options);
      const receive = (result: object) => {
        const setup = edition.setup(result, sessionId);
        if (setup.sessionId === "") throw namelessSession(method);
        if ((signal?.aborted || resumed?.isCancelled) && !isKnown) {
          this.#abandon(setup.sessionId);
          throw abortError(signal, method);
        }
        const session =
          early ?? this.#install({ ...setup, configOptions: [], availableCommands: [] }, options);
        // updates that came before the answer are older than it
        session.opened(setup);
        dispatch.servers.opened(session.sessionId, tools);
        return session;
      };
      const roots = rootsOf(options);
      const hooks = callHooks(options, { call: "open", isKnown, roots, ...optional({ sessionId }) });
      // one that was open before is still open
      const refused = () => {
        if (early === undefined) return;
        early.replayed();
        if (!isKnown && dispatch.find(early.sessionId) === early) dispatch.forget(early.sessionId);
      };
      const send = () => wire.request(method, params, { receive, refused, signal, ...hooks });
      if (early === undefined) return abortableCall(signal, method, send);
      const replayed = () => early.replaying(send, resumed !== undefined);
      return abortableCall(signal, method, replayed).catch((error: unknown) => {
        refused();
        throw error;
      });
    });
  }

  /** The caller has given up, so nobody will close the session that the agent opened. */
  #abandon(sessionId: string): void {
    // it was opened again meanwhile
    const { dispatch, requests, settings } = this.#parts;
    if (dispatch.find(sessionId) !== undefined) return;
    requests.close(sessionId).catch((error: unknown) => {
      settings.log("warn", "a session whose opening was aborted could not be closed", { error });
    });
  }

  #install(setup: SessionSetup, options: SessionOptions): ConnectedSession {
    const { dispatch, edition, requests, settings, unstable } = this.#parts;
    const { sessionId } = setup;
    const known = dispatch.find(sessionId);
    const place = { ...setup, roots: rootsOf(options) };
    const ofEdition = () => edition.session(unstable, this.#namesOf(sessionId));
    const session = known ?? new ConnectedSession(place, requests, ofEdition(), settings);
    session.events.listen(options.onUpdate, options.onEntry);
    if (known === undefined) dispatch.install(session);
    return session;
  }

  #namesOf(sessionId: string): MessageNames {
    const names = this.#names.get(sessionId) ?? new MessageNames();
    this.#names.set(sessionId, names);
    return names;
  }
}

function rootsOf({ cwd, additionalDirectories = [] }: SessionOptions): readonly string[] {
  return [cwd, ...additionalDirectories];
}
