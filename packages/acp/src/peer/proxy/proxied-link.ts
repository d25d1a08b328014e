// One proxy between two peers: calls the hooks of its definition for what passes.

import { isObject, isPromiseLike } from "../../base/objects.ts";
import { answeredVersion, type ProtocolVersion } from "../../edition/negotiate.ts";
import type { Frame, FrameAction } from "../../forward/frame.ts";
import { Link } from "../../forward/link.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { RequestError, wireParts } from "../../jsonrpc/errors.ts";
import { errorFromWire } from "../../jsonrpc/pending-requests.ts";
import { methodTable } from "../../wire/methods.gen.ts";
import { EditionReader, type Heard } from "./edition-reader.ts";
import { acpFacts } from "./facts.ts";
import {
  actionOf,
  after,
  answeredLater,
  callOf,
  copied,
  failedIn,
  hookOf,
  isSteering,
  promptsWith,
  requiredCall,
  same,
  synchronous,
  unreadable,
  unreadBy,
  withItsMeta,
} from "./frame-actions.ts";
import { HookWatch } from "./hook-watch.ts";
import { ProxiedSessions, type SeenSession } from "./proxied-sessions.ts";
import {
  Answer,
  type ProxiedMessage,
  type ProxiedPrompt,
  type ProxiedSession,
  type ProxiedSetup,
  type ProxiedTurn,
  type ProxyDefinition,
} from "./proxy-definition.ts";
import { askedElicitation, askedPermission } from "./questions.ts";

/** What hooks see in terms of the model, apart from what opens a session. */
const subjects = new Set([
  "session/update",
  "session/prompt",
  "session/request_permission",
  "elicitation/create",
]);

export interface ProxiedLinkOptions {
  readonly definition: ProxyDefinition<unknown>;
  readonly errors: "open" | "closed";
  readonly isPolicy: boolean;
  readonly log: Log;
  /** The two peers cannot go on. */
  readonly failed: (reason: string) => void;
}

export class ProxiedLink {
  readonly link: Link;
  readonly #definition: ProxyDefinition<unknown>;
  readonly #options: ProxiedLinkOptions;
  readonly #sessions: ProxiedSessions;
  /** The prompts that the agent works on, by the frame of their request. */
  readonly #prompts = new Map<Frame, number>();
  /** What the agent is asked to open. */
  readonly #setups = new Map<Frame, ProxiedSetup>();
  readonly watch: HookWatch;
  #readers: Readonly<Record<ProtocolVersion, EditionReader>> | undefined;
  #reader: EditionReader | undefined;

  constructor(options: ProxiedLinkOptions) {
    const { definition, isPolicy, log, failed } = options;
    this.#definition = definition;
    this.#options = options;
    const { update, prompt, open, opened, permission, elicitation, turnEnd, messages, results } = definition;
    const hooks = [update, prompt, open, opened, permission, elicitation, turnEnd, messages, results];
    const looks = isPolicy || hooks.some((each) => each !== undefined);
    const looksAtUpdates =
      update !== undefined ||
      turnEnd !== undefined ||
      hookOf(messages, "session/update") !== undefined ||
      isPolicy;
    this.link = new Link({
      facts: acpFacts(() => this.#reader?.version),
      look: looks ? (frame) => this.#look(frame) : undefined,
      passesUnread: !looksAtUpdates,
      rewrites: isPolicy,
      log,
      overflowed: failed,
    });
    this.watch = new HookWatch(definition.hookMs, failed);
    this.#sessions = new ProxiedSessions(this.link, { ...definition, ...(isPolicy && { policy: true }) });
  }

  #look(frame: Frame): FrameAction {
    if (frame.kind === "answer") return this.#lookAtAnswer(frame);
    const { method } = frame;
    if (method === "initialize" && this.#readers === undefined)
      return { hold: this.#load().then(() => this.#look(frame)) };
    try {
      return this.#said(frame, this.#lookAtCall(frame));
    } catch (error) {
      return this.#failed(frame, error);
    }
  }

  async #load(): Promise<void> {
    const { log } = this.#options;
    const [one, two] = await Promise.all([EditionReader.load(1, log), EditionReader.load(2, log)]);
    this.#readers = { 1: one, 2: two };
  }

  #lookAtCall(frame: Frame): FrameAction | PromiseLike<FrameAction> {
    const params = this.#readable(frame, frame.params);
    if (params === unreadable) return this.#unread(frame);
    const hook = hookOf(this.#definition.messages, frame.method);
    const { from, method, kind } = frame;
    if (hook === undefined || kind === "answer") return this.#asked(frame, params);
    const message: ProxiedMessage = { from, method, kind, params };
    const said = hook(message, this.#seen(frame), callOf(frame));
    return after(said, (value) => {
      if (value === undefined || value === params) return this.#asked(frame, params);
      if (value === null) return { drop: `${this.#definition.name} dropped it` };
      if (value instanceof Answer && isPromiseLike(value.value))
        return answeredLater(value.value, (error) => this.#failed(frame, error));
      if (value instanceof Answer || value instanceof RequestError)
        return actionOf(value, (result) => result, same);
      // the hooks in terms of the model see what it has become
      const changed = this.#readable(frame, value);
      return changed === unreadable ? this.#unread(frame) : this.#asked(frame, changed);
    });
  }

  #asked(frame: Frame, params: unknown): FrameAction | PromiseLike<FrameAction> {
    return after(
      this.#lookAtSubject(frame, params),
      (action) => action ?? (params === frame.params ? undefined : { send: params }),
    );
  }

  /** What a policy is shown is all that passes: without what lenient decoding leaves out. */
  #readable(frame: Frame, params: unknown): unknown {
    if (!this.#options.isPolicy || this.#reader === undefined || frame.kind === "answer") return params;
    try {
      const { from, kind, method } = frame;
      return this.#reader.asRead(from, kind, method, copied(frame, params));
    } catch {
      return unreadable;
    }
  }

  /** Hooks in terms of the model. */
  #lookAtSubject(frame: Frame, params: unknown): FrameAction | PromiseLike<FrameAction> {
    const reader = this.#reader;
    if (reader === undefined) return frame.method === "initialize" ? undefined : this.#unread(frame);
    const method = promptsWith(frame);
    const { receiver, kinds } = methodTable.get(method) ?? {};
    // one that goes the wrong way, or asks without wanting an answer, is for its receiver to refuse
    if (receiver === frame.from || frame.kind === "answer" || !kinds?.includes(frame.kind)) {
      const isLookedAt = subjects.has(method) || frame.opens !== undefined;
      return isLookedAt && frame.kind !== "answer" ? this.#unread(frame) : undefined;
    }
    if (!isObject(params)) return subjects.has(method) ? this.#unread(frame) : undefined;
    switch (method) {
      case "session/update":
        return this.#update(reader, frame, params);
      case "session/prompt":
        return this.#prompt(reader, frame, params);
      case "session/request_permission":
        return this.#permission(reader, frame, params);
      case "elicitation/create":
        return this.#elicitation(reader, frame, params);
      default:
        return frame.opens === "session" || frame.opens === "named session"
          ? this.#open(reader, frame, params)
          : undefined;
    }
  }

  #update(reader: EditionReader, frame: Frame, params: object): FrameAction {
    const { update: hook, name } = this.#definition;
    const session = this.#session(frame);
    const wire = session && reader.update(copied(frame, params));
    if (session === undefined || wire === undefined) return this.#unread(frame);
    const heard = session.reader.receive(wire);
    const sent = hook === undefined ? undefined : this.#changed(reader, params, heard, session, hook);
    this.#ended(heard, session);
    if (sent === undefined) return undefined;
    const [first, ...more] = sent;
    if (first === undefined) return { drop: `${name} dropped it` };
    const afterwards = (): void => {
      for (const each of more) this.link.notify("client", frame.method, each);
    };
    return { send: first, afterwards };
  }

  /** The params to send in place of these; undefined if nothing was changed. */
  #changed(
    reader: EditionReader,
    params: object,
    { updates }: Heard,
    { seen }: SeenSession,
    hook: NonNullable<ProxyDefinition<unknown>["update"]>,
  ): object[] | undefined {
    const said = updates.map((update) => synchronous(hook(update, seen)));
    if (said.every((each, i) => each === undefined || each === updates[i])) return undefined;
    const kept = updates.flatMap((update, i) => {
      const after = said[i];
      if (after === null) return [];
      return after ? withItsMeta(update, after) : update;
    });
    return reader.withUpdates(params, updates, kept);
  }

  #ended({ ended }: Heard, { seen }: SeenSession): void {
    for (const result of ended) this.#definition.turnEnd?.(result, seen);
  }

  #prompt(reader: EditionReader, frame: Frame, params: object): FrameAction | PromiseLike<FrameAction> {
    const { prompt: hook, turnEnd } = this.#definition;
    const session = this.#session(frame);
    if (hook === undefined && turnEnd === undefined) return undefined;
    if (session === undefined) return this.#unread(frame);
    const prompt = this.#read(() => reader.prompt(copied(frame, params)));
    if (prompt === undefined) return undefined;
    const send = (): void => {
      if (frame.signal?.aborted !== true && !isSteering(frame))
        this.#prompts.set(frame, session.reader.prompted());
    };
    const said = hook?.(prompt, session.seen, requiredCall(frame));
    return after(said, (value) => {
      if (value === undefined || value === prompt) {
        send();
        return undefined;
      }
      if (value instanceof Answer) return this.#turn(reader, frame, prompt, value.value);
      return actionOf(
        value,
        () => undefined,
        (changed) => {
          send();
          return reader.withPrompt(params, prompt, withItsMeta(prompt, changed));
        },
      );
    });
  }

  #turn(reader: EditionReader, frame: Frame, prompt: ProxiedPrompt, turn: ProxiedTurn): FrameAction {
    const { before, result, after: later } = reader.turn(frame, prompt, turn);
    const send = (params: object): void => this.link.notify("client", "session/update", params);
    for (const params of before) send(params);
    return { answer: { result }, afterwards: () => later.forEach(send) };
  }

  #permission(reader: EditionReader, frame: Frame, params: object): FrameAction | PromiseLike<FrameAction> {
    const { permission: hook } = this.#definition;
    if (hook === undefined) return undefined;
    const session = this.#session(frame);
    if (session === undefined) return this.#unread(frame);
    const ask = this.#read(() => reader.permission(copied(frame, params)));
    if (ask !== undefined) this.#sessions.asked(ask, params);
    const failed = (error: unknown) => this.#failed(frame, error);
    return ask && askedPermission(hook, reader, { frame, params, ask, session: session.seen }, failed);
  }

  #elicitation(reader: EditionReader, frame: Frame, params: object): FrameAction | PromiseLike<FrameAction> {
    const { elicitation: hook } = this.#definition;
    if (hook === undefined) return undefined;
    const ask = this.#read(() => reader.elicitation(copied(frame, params)));
    if (ask === undefined) return this.#unread(frame);
    return askedElicitation(hook, { frame, params, ask, session: this.#seen(frame) });
  }

  #open(reader: EditionReader, frame: Frame, params: object): FrameAction | PromiseLike<FrameAction> {
    const { open: hook, opened } = this.#definition;
    const session = frame.opens === "named session" ? this.#session(frame) : undefined;
    const setup = (hook ?? opened) && this.#read(() => reader.setup(frame.method, copied(frame, params)));
    if (hook !== undefined && setup === undefined && this.#options.isPolicy) return this.#unread(frame);
    const said = hook && setup && hook(setup, requiredCall(frame));
    return after(said, (value) => {
      const isChanged = value !== undefined && !(value instanceof Answer || value instanceof RequestError);
      const action =
        value === undefined || setup === undefined || value === setup
          ? undefined
          : actionOf(
              value,
              (result) => result,
              (changed) => reader.withSetup(params, setup, withItsMeta(setup, changed)),
            );
      const sent = isChanged ? value : value === undefined ? setup : undefined;
      if (frame.signal?.aborted === true) {
        if (sent !== undefined) opened?.(sent, undefined, new RequestError("cancelled", "cancelled"));
      } else if (action === undefined || "send" in action) {
        if (sent !== undefined && opened !== undefined) this.#setups.set(frame, sent);
        session?.reader.replays(true);
      }
      return action;
    });
  }

  /** A policy lets nothing pass that it cannot read. */
  #unread(frame: Frame): FrameAction {
    return this.#options.isPolicy ? unreadBy(this.#definition.name, frame) : undefined;
  }

  /** What cannot be read passes unseen, unless nothing may. */
  #read<Value>(read: () => Value): Value | undefined {
    try {
      return read();
    } catch (error) {
      if (this.#options.errors === "closed") throw error;
      this.#options.log("warn", `${this.#definition.name} could not read a message, which passes unchanged`, {
        error,
      });
      return undefined;
    }
  }

  #lookAtAnswer(frame: Frame): FrameAction {
    try {
      this.#noteAnswer(frame);
      const isDone = frame.method === "initialize" && frame.answer?.error === undefined;
      const unread = isDone && this.#reader === undefined ? this.#unread(frame) : undefined;
      if (unread !== undefined) return unread;
      const hook = hookOf(this.#definition.results, frame.method);
      const { answer, request } = frame;
      if (hook === undefined || answer === undefined || !("result" in answer)) return undefined;
      const from = request?.from ?? "client";
      const message = { from, method: frame.method, kind: "request", params: frame.params } as const;
      const said = hook(answer.result, this.#seen(frame), message);
      const action = after(said, (result): FrameAction => {
        if (result === undefined || result === answer.result) return undefined;
        if (result instanceof RequestError) return { send: { error: wireParts(result) } };
        return { send: { result } };
      });
      return this.#said(frame, action);
    } catch (error) {
      return this.#failed(frame, error);
    }
  }

  #noteAnswer(frame: Frame): void {
    const { method, answer, request, opens } = frame;
    const session = this.#session(frame);
    if (method === "initialize" && answer?.result !== undefined) {
      const version = answeredVersion(answer.result);
      const reader = version === 1 || version === 2 ? this.#readers?.[version] : this.#reader;
      // a session is read as it began
      if (reader !== this.#reader) this.#sessions.clear();
      this.#reader = reader;
    }
    if (opens === "named session") session?.reader.replays(false);
    const setup = request && this.#setups.get(request);
    if (request !== undefined && setup !== undefined) {
      this.#setups.delete(request);
      const { error } = answer ?? {};
      if (error === undefined) this.#definition.opened?.(setup, session?.seen, undefined);
      else this.#definition.opened?.(setup, undefined, errorFromWire(method, error));
    }
    this.#sessions.answered(frame);
    const prompt = request && this.#prompts.get(request);
    if (request === undefined || prompt === undefined || session === undefined) return;
    this.#prompts.delete(request);
    if (isObject(answer?.result)) this.#ended(session.reader.answered(prompt, answer.result), session);
    else this.#ended(session.reader.failed(prompt, errorFromWire(method, answer?.error)), session);
  }

  #seen(frame: Frame): ProxiedSession<unknown> | undefined {
    return this.#session(frame)?.seen;
  }

  /** Undefined before the handshake, and for what names no session. */
  #session({ session: sessionId, from, request }: Frame): SeenSession | undefined {
    const reader = this.#reader;
    if (sessionId === undefined || reader === undefined) return undefined;
    // an agent may name what nobody has opened: nothing is kept for that, and nothing forgotten
    return this.#sessions.get(sessionId, reader, (request?.from ?? from) === "client");
  }

  #said(frame: Frame, action: FrameAction | PromiseLike<FrameAction>): FrameAction {
    if (!isPromiseLike(action)) return action;
    const stop = this.watch.begin(frame, this.#session(frame)?.activity);
    const settled = Promise.resolve(action).catch((error: unknown) => this.#failed(frame, error));
    return { hold: settled.finally(stop) };
  }

  /** A hook threw. */
  #failed(frame: Frame, error: unknown): FrameAction {
    const { name } = this.#definition;
    if (error instanceof RequestError) {
      if (frame.kind === "notification") return { drop: error.message };
      return { answer: { error: wireParts(error) } };
    }
    this.#options.log("error", `a hook of ${name} failed`, { method: frame.method, error });
    if (this.#options.errors === "open") return undefined;
    return failedIn(name, frame);
  }
}
