// Sends every message of the schemas, with custom data in all its places, through a relay between peers written by hand.

import { halfOf, type ProtocolVersion } from "../../src/edition/negotiate.ts";
import type { MethodRow } from "../../src/wire/method-row.ts";
import { methods as v1Methods } from "../../src/wire/v1/methods.gen.ts";
import { methods as v2Methods } from "../../src/wire/v2/methods.gen.ts";
import { between, type Message, type RawPeer } from "../support/raw-peer-probe.ts";
import { extrasIn, type Place, placesIn, type Sample, samplesOf, withUnknownFields } from "./canaries.ts";

const rowsOf = { 1: v1Methods, 2: v2Methods } as const;

export interface RelayedPlaces {
  /** The places that were sent, by the side that sent them. */
  readonly sent: { readonly client: ReadonlySet<Place>; readonly agent: ReadonlySet<Place> };
  /** The places that arrived at the other side. */
  readonly got: { readonly client: ReadonlySet<Place>; readonly agent: ReadonlySet<Place> };
  /** What the relay said that it lost. */
  readonly lost: readonly string[];
  /** Errors that were answered: a test that sends nonsense proves nothing. */
  readonly errors: readonly unknown[];
}

function row(version: ProtocolVersion, method: string): MethodRow {
  const found = rowsOf[version].find((each) => each.method === method);
  if (found === undefined) throw new Error(`version ${version} has no ${method}`);
  return found;
}

/** The same value with other fields, at the root. */
function withFields({ value, places }: Sample, fields: Message): Sample {
  return { value: { ...value, ...fields }, places };
}

/** In which form the custom data of the samples is sent: where it belongs, or as fields that the protocol does not have. */
export type Custom = "_meta" | "unknown fields";

class Speaker {
  readonly version: ProtocolVersion;
  readonly sent = new Set<Place>();
  readonly got = new Set<Place>();
  readonly #side: string;
  readonly #custom: Custom;

  constructor(version: ProtocolVersion, side: string, custom: Custom) {
    this.version = version;
    this.#side = side;
    this.#custom = custom;
  }

  /** A peer looks at the half of a handshake that is for its version. */
  heard({ method, params, ...rest }: Message): void {
    const read = method === "initialize" ? halfOf(params as object, this.version) : { params, ...rest };
    for (const place of placesIn(this.#custom === "unknown fields" ? extrasIn(read) : read))
      this.got.add(place);
  }

  said(sample: Sample): Message {
    const isUnknown = this.#custom === "unknown fields";
    // the data of an error is any JSON: it has no unknown fields
    for (const place of sample.places)
      if (!isUnknown || !place.includes(".error.data[")) this.sent.add(place);
    return isUnknown ? withUnknownFields(sample).value : sample.value;
  }

  params(method: string): readonly Sample[] {
    const { paramsType } = row(this.version, method);
    return samplesOf(this.version, paramsType, `${this.#side} ${method}`);
  }

  results(method: string): readonly Sample[] {
    const { resultType = "" } = row(this.version, method);
    return samplesOf(this.version, resultType, `${this.#side} ${method} result`);
  }
}

/** The fields that make a sample of a message fit the others. */
function fittingParams(method: string, agentVersion: ProtocolVersion): Message {
  switch (method) {
    case "authenticate":
    case "auth/login":
      return { methodId: "by-agent" };
    case "session/load":
    case "session/resume":
      return { sessionId: "old" };
    case "session/set_config_option":
      return { sessionId: "s", configId: agentVersion === 1 ? "id" : "configId" };
    case "session/new":
    case "auth/status":
    case "providers/list":
    case "providers/set":
    case "providers/disable":
      return {};
    default:
      return { sessionId: "s" };
  }
}

function authMethods(version: ProtocolVersion, methods: unknown): Message[] {
  const key = version === 1 ? "id" : "methodId";
  return (methods as Message[]).map((method) => ({
    ...method,
    [key]: method.type === "terminal" ? "by-terminal" : "by-agent",
  }));
}

/** The modes are those of the option that says the same. */
function fittingModes({ modes }: Message): Message {
  if (modes === undefined) return {};
  const { availableModes, ...rest } = modes as { availableModes: Message[] };
  return { modes: { ...rest, availableModes: availableModes.map((mode) => ({ ...mode, id: "value" })) } };
}

/** The methods of unstable features, which both versions write alike. */
const unstableMethods = [
  "auth/status",
  "providers/list",
  "providers/set",
  "providers/disable",
  "session/set_title",
  "session/status",
  "session/unarchive",
];

/** What the client asks for, in order, in its version. */
const asked: Readonly<Record<ProtocolVersion, readonly string[]>> = {
  1: [
    "authenticate",
    "session/new",
    "session/load",
    "session/resume",
    "session/fork",
    "session/set_mode",
    "session/set_config_option",
    "session/prompt",
    ...unstableMethods,
    "session/list",
    "session/close",
    "session/archive",
    "session/delete",
    "logout",
  ],
  2: [
    "auth/login",
    "session/new",
    "session/resume",
    "session/fork",
    "session/set_config_option",
    "session/prompt",
    ...unstableMethods,
    "session/list",
    "session/close",
    "session/archive",
    "session/delete",
    "auth/logout",
  ],
};

export async function relayedPlaces(
  clientVersion: ProtocolVersion,
  agentVersion: ProtocolVersion,
  custom: Custom = "_meta",
): Promise<RelayedPlaces> {
  const client = new Speaker(clientVersion, "client", custom);
  const agent = new Speaker(agentVersion, "agent", custom);
  const lost: string[] = [];
  const errors: unknown[] = [];
  const results = new Map<string, number>();
  const say = (peer: RawPeer, sample: Sample): void =>
    peer.send({ jsonrpc: "2.0", method: "session/update", params: agent.said(sample) });

  function answer(method: string, peer: RawPeer, message: Message): void {
    const samples = agent.results(method);
    const i = results.get(method) ?? 0;
    results.set(method, i + 1);
    const sample = samples[i % samples.length];
    if (sample === undefined) throw new Error(`no result of ${method}`);
    const fields: Message =
      method === "session/new"
        ? { sessionId: "s" }
        : method === "session/fork"
          ? { sessionId: "forked" }
          : method === "initialize"
            ? {
                protocolVersion: agentVersion,
                authMethods: authMethods(agentVersion, sample.value.authMethods),
              }
            : {};
    peer.answer(message, agent.said(withFields(sample, { ...fields, ...fittingModes(sample.value) })));
  }

  const idle = samplesOf(2, "UpdateSessionNotification", "agent session/update").filter(
    ({ value }) => (value.update as Message).state === "idle",
  );
  let prompts = 0;
  const sides = between(
    (message, peer) => {
      agent.heard(message);
      const { method, id } = message;
      if (typeof method !== "string" || id === undefined) return;
      answer(method, peer, message);
      if (method !== "session/prompt" || agentVersion === 1) return;
      const sample = idle[prompts++ % idle.length];
      if (sample !== undefined) say(peer, withFields(sample, { sessionId: "s" }));
    },
    {
      log: (_level, message, details) => {
        const { lost: what } = (details ?? {}) as { lost?: readonly string[] };
        if (what !== undefined) lost.push(...what);
        else if (!/negotiated|connection ends|in all/.test(message)) errors.push({ message, details });
      },
    },
    (message, peer) => {
      client.heard(message);
      const { method, id } = message;
      if (typeof method !== "string" || id === undefined) return;
      const samples = client.results(method);
      const i = results.get(`client ${method}`) ?? 0;
      results.set(`client ${method}`, i + 1);
      const sample = samples[i % samples.length];
      if (sample === undefined) return;
      const { outcome, content } = sample.value as { outcome?: Message; content?: unknown };
      const chosen = outcome?.outcome === "selected" && { outcome: { ...outcome, optionId: "o0" } };
      const filled = content !== undefined && { content: { field0: "const" } };
      peer.answer(message, client.said(withFields(sample, { ...chosen, ...filled })));
    },
  );
  let id = 0;
  const ask = async (method: string, params: Message): Promise<void> => {
    const answered = await sides.client.ask(++id, method, params);
    if (answered.error !== undefined) errors.push({ method, params, error: answered.error });
  };

  const [hello] = client.params("initialize");
  if (hello !== undefined)
    await ask("initialize", client.said(withFields(hello, { protocolVersion: clientVersion })));
  for (const method of asked[clientVersion]) {
    const samples = client.params(method);
    const count = Math.max(samples.length, samples.length === 0 ? 0 : 2);
    for (let i = 0; i < count; i++) {
      const sample = samples[i % samples.length];
      if (sample === undefined) continue;
      await ask(method, client.said(fitted(withFields(sample, fittingParams(method, agentVersion)))));
    }
    if (method !== "session/prompt") continue;
    // while the session is open
    await updates(agent, sides.agent, say);
    await questions(agent, sides.agent, errors);
    for (const sample of agent.params("auth/status_update"))
      sides.agent.send({ jsonrpc: "2.0", method: "auth/status_update", params: agent.said(sample) });
  }
  const cancel = client.params("session/cancel")[0];
  await ask("session/new", { cwd: "/w", mcpServers: [] });
  if (cancel !== undefined)
    sides.client.send({
      jsonrpc: "2.0",
      method: "session/cancel",
      params: client.said(withFields(cancel, { sessionId: "s" })),
    });
  await ask("session/list", {});
  await sides.relayed.close();
  return {
    sent: { client: client.sent, agent: agent.sent },
    got: { client: client.got, agent: agent.got },
    lost: [...new Set(lost)],
    errors,
  };
}

/** Servers that the other version does not have would be refused as a whole. */
function fitted({ value, places }: Sample): Sample {
  const servers = (value.mcpServers as Message[] | undefined)?.filter(
    ({ type }) => type === "http" || type === "stdio" || type === undefined,
  );
  const systemPrompt = value.systemPrompt as { content: Message[] } | undefined;
  const fit = {
    ...value,
    ...(servers && { mcpServers: servers }),
    ...(systemPrompt && {
      systemPrompt: {
        ...systemPrompt,
        content: systemPrompt.content.filter(({ type }) => type === "text"),
      },
    }),
  };
  const kept = new Set(placesIn(fit));
  return { value: fit, places: places.filter((place) => kept.has(place)) };
}

async function updates(
  agent: Speaker,
  peer: RawPeer,
  say: (peer: RawPeer, sample: Sample) => void,
): Promise<void> {
  for (const [i, sample] of agent.params("session/update").entries()) {
    const update = sample.value.update as Message;
    // the end of a turn is said in a turn
    if (update.sessionUpdate === "state_update" && update.state === "idle") continue;
    // each is a message of its own
    const named = "messageId" in update ? { update: { ...update, messageId: `m${i}` } } : {};
    say(peer, withFields(sample, { sessionId: "s", ...named }));
  }
}

function withIds(options: readonly Message[]): Message[] {
  return options.map((option, i) => ({ ...option, optionId: `o${i}` }));
}

/** Asks what an agent may ask, and resolves when all of it is answered. */
async function questions(agent: Speaker, peer: RawPeer, errors: unknown[]): Promise<void> {
  let id = 0;
  for (const method of ["session/request_permission", "elicitation/create"] as const) {
    const samples = agent.params(method).filter(({ value }) => value.requestId === undefined);
    // more than samples: there may be more kinds of answers
    for (let i = 0; i < samples.length + 4; i++) {
      const sample = samples[i % samples.length];
      if (sample === undefined) continue;
      const isUrl = sample.value.mode === "url";
      const elicitationId = `e${i}`;
      const params = withFields(sample, {
        sessionId: "s",
        ...(isUrl && { elicitationId }),
        ...(Array.isArray(sample.value.options) && { options: withIds(sample.value.options) }),
      });
      const asking = `${method} ${++id}`;
      peer.send({ jsonrpc: "2.0", id: asking, method, params: agent.said(params) });
      const { error } = await peer.until((message) => message.id === asking);
      if (error !== undefined) errors.push({ method, params: params.value, error });
      const [complete] = agent.params("elicitation/complete");
      if (isUrl && complete !== undefined)
        peer.send({
          jsonrpc: "2.0",
          method: "elicitation/complete",
          params: agent.said(withFields(complete, { elicitationId })),
        });
    }
  }
}
