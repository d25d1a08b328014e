// The proxy `policy`: Parley's rules, questions and audit log in front of any agent, in any editor.

import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { type EffectRequest, type PolicyDecision, RequestError } from "@parley/acp";
import { vetoMethod } from "@parley/acp/extensions";
import { isObject } from "@parley/acp/jsonrpc";
import type { PermissionOutcome } from "@parley/acp/model";
import { answer, type MessageHook, type ProxiedSession, type ProxiedSetup, proxy } from "@parley/acp/proxy";
import { asksPermission, hasExactTitles } from "@parley/client/launch";
import type { Decision, GatedSession } from "@parley/client/policy";
import { describeRule, enforcementOf, type Rule, rememberedRules } from "@parley/client/policy";
import { option } from "../command/command.ts";
import { type OpenedGate, openGate } from "../permissions/open-gate.ts";
import { configuredRules, type RunRules } from "../permissions/policy-rules.ts";
import { permissionsPath } from "../settings/data-folder.ts";
import { trustedSettings } from "../trust/workspace-trust.ts";
import { GivenServers } from "./given-servers.ts";
import { brokenBy, forgetBroken, noteBroken } from "./never-asks.ts";
import { asObject } from "./other-agent.ts";
import type { ProxyArguments, ProxyHost, ShippedProxy } from "./shipped-proxy.ts";

interface Data {
  /** The session as the gate knows it. Undefined until it is open. */
  gated: GatedSession | undefined;
}

type Session = ProxiedSession<Data>;

const mostBytes = 256 * 1024;
/** Longer than a question of the gate may be open. */
const hookMs = 15 * 60_000;

export const policy: ShippedProxy = {
  name: "policy",
  summary: "Decides by rules what any agent may do, asks you in the editor, and writes an audit log",
  options: {
    allow: option("RULE", "Allow this, such as 'exec npm test'; can be repeated", { multiple: true }),
    ask: option("RULE", "Ask about this; can be repeated", { multiple: true }),
    deny: option("RULE", "Deny this; can be repeated", { multiple: true }),
    policy: option("FILE", "Rules from this file, in addition to your own policy file"),
  },

  create(given, host) {
    const run = rulesOf(given);
    // throws if a rule is wrong, before anything starts
    const rules = configuredRules(run);
    const known = new AgentFacts(host);
    const sessions = new Map<string, Session>();
    const servers = new GivenServers<Data>();
    let opened: OpenedGate | undefined;
    const gate = () => {
      opened ??= openedGate();
      return opened.gate;
    };
    const openedGate = (): OpenedGate => {
      const made = openGate({
        ...run,
        sandbox: "off",
        secrets: host.secrets(),
        warn: (text) => host.warn(text),
      });
      made.gate.onDecision((decision) => decided(decision));
      host.gated?.(made.gate);
      return made;
    };
    const decided = ({ effect, sessionId, summary, reason }: Decision): void => {
      const session = effect === "violation" ? sessions.get(sessionId) : undefined;
      if (session === undefined) return;
      if (known.neverAsks)
        return session.say(`\n\n[policy] ${summary}: done without asking (${reason}).\n\n`);
      // first what protects: what is remembered may fail
      if (session.data.gated !== undefined) gate().cancel(session.data.gated);
      session.notify("agent", "session/cancel", { sessionId });
      session.say(
        `\n\n[policy] ${summary}: done without asking, against a rule (${reason}). The turn is stopped. From now on, this version of ${known.name} counts as an agent that never asks.\n\n`,
      );
      known.broke(reason);
    };
    /** Why the agent cannot be used with these rules; undefined if it can. */
    const unkept = (cwd: string): string | undefined => {
      if (!known.neverAsks) return undefined;
      const rule = [...rules, ...lastingRules(cwd)].find(
        (each) => each.effect === "deny" && !known.keeps(each, cwd),
      );
      if (rule === undefined) return undefined;
      const what = `${known.name} never asks, so this rule cannot be kept: ${describeRule(rule)}`;
      return known.isSandboxed
        ? `${what}. Its sandbox does not keep it either: it keeps rules on plain paths that exist when the agent starts. Remove the rule`
        : `${what}. Run the agent in a sandbox (${known.sandboxOption}), or remove the rule`;
    };
    const asking = ({ data: { gated }, ...session }: Session, signal: AbortSignal) => ({
      session: gated,
      signal,
      ask: session.ask,
      ...known.asking,
    });
    const effect =
      (
        read: (params: Readonly<Record<string, unknown>>, session: GatedSession) => EffectRequest,
      ): MessageHook<Data> =>
      async ({ params }, session, call) => {
        const { gated } = session?.data ?? {};
        if (session === undefined || gated === undefined || call === undefined)
          return RequestError.permissionDenied("permission denied: it belongs to no session");
        const decision = await gate().decide(read(asObject(params), gated), asking(session, call.signal));
        if (decision === "allow") return undefined;
        const { reason = "a rule" } = asObject(decision) as { readonly reason?: string }; // as: a decision of a gate
        return RequestError.permissionDenied(reason);
      };
    /** A call of a tool of the client, over ACP. */
    const toolCall: MessageHook<Data> = async (message, _, call) => {
      const wanted = servers.callIn(message);
      if (wanted === undefined) return undefined;
      const { session, server, tool, arguments: given } = wanted;
      if (session?.data.gated === undefined || tool === undefined || call === undefined)
        return RequestError.permissionDenied("permission denied: it is no call of a tool of an open session");
      const request: EffectRequest = { type: "mcp", server, tool, arguments: given };
      const decision = await gate().decide(request, asking(session, call.signal));
      if (decision === "allow") return undefined;
      const { reason = "a rule" } = asObject(decision) as { readonly reason?: string }; // as: of a gate
      return answer(wanted.refusal(reason));
    };

    return proxy<Data>({
      name: "policy",
      version: "1.0.0",
      policy: true,
      hookMs,
      session: () => ({ gated: undefined }),
      messages: {
        initialize: ({ params }) => announcing(asObject(params)),
        "fs/read_text_file": effect(({ path }) => ({ type: "read", path: String(path) })),
        "fs/write_text_file": effect(({ path, content }) => ({
          type: "write",
          path: String(path),
          content: String(content),
        })),
        "terminal/create": effect((params, session) => commandOf(params, session)),
        "mcp/message": toolCall,
        "session/cancel"(_, session) {
          if (session?.data.gated !== undefined) gate().cancel(session.data.gated);
          return undefined;
        },
        async [vetoMethod]({ params }, _, call) {
          const session = sessions.get(String(asObject(params)["sessionId"]));
          if (session === undefined || call === undefined)
            return new RequestError("session_not_found", "there is no such session");
          return answer(await gate().veto(params, asking(session, call.signal)));
        },
      },
      results: {
        initialize(result) {
          known.met(result);
        },
        "mcp/connect"(result, _, message) {
          servers.connected(result, message);
        },
        "session/close"(_, session) {
          sessions.delete(session?.sessionId ?? "");
          servers.closed(session?.sessionId ?? "");
        },
      },
      open({ cwd }) {
        const why = unkept(cwd);
        return why === undefined ? undefined : new RequestError("permission_denied", why);
      },
      opened(setup, session) {
        if (session === undefined) return;
        session.data.gated = gatedOf(setup, session.sessionId);
        sessions.set(session.sessionId, session);
        servers.opened(setup, session);
        const said = known.said;
        // in a microtask, so that the client gets the answer first
        if (said !== undefined) queueMicrotask(() => session.say(`[policy] ${said}\n\n`));
      },
      prompt(_, { data: { gated } }) {
        const why = gated === undefined ? "this session was not opened here" : unkept(gated.cwd);
        if (why !== undefined) return answer({ stopReason: "refusal" as const, say: `[policy] ${why}.` });
        if (gated !== undefined) gate().prompted(gated, known.asking);
        return undefined;
      },
      update(update, { data: { gated } }) {
        if (gated !== undefined) gate().observe(gated, update);
        return undefined;
      },
      permission(request, session, { signal }) {
        // what the agent does meanwhile is looked at, too
        const decided = gate().decide({ type: "permission", request }, asking(session, signal));
        return answer(
          decided.then((decision) => (isOutcome(decision) ? decision : { outcome: "cancelled" as const })),
        );
      },
      closed() {
        sessions.clear();
        opened?.close();
        opened = undefined;
      },
    });
  },

  // also what is remembered, and what the workspace says, as far as that is known before a session
  sandboxRules: (given, cwd) => [...configuredRules(rulesOf(given)), ...lastingRules(cwd)],

  reset: ({ folder }) => forgetBroken(folder),
};

/** What is known about the agent behind the proxy. */
class AgentFacts {
  readonly #host: ProxyHost;
  #info: { readonly name?: string; readonly version?: string } = {};
  /** The rule that it broke without asking, now or in an earlier process. */
  #broken: string | undefined;

  constructor(host: ProxyHost) {
    this.#host = host;
  }

  /** Notes the agent's answer to `initialize`, in version 1 or 2. */
  met(result: unknown): void {
    const { agentInfo, info } = asObject(result);
    const { name, version } = asObject(agentInfo ?? info);
    this.#info = {
      ...(typeof name === "string" && { name }),
      ...(typeof version === "string" && { version }),
    };
    this.#broken = brokenBy(this.#host.folder, this.#identity);
  }

  get name(): string {
    return this.#host.agent?.entry.name ?? this.#info.name ?? "the agent";
  }

  get isSandboxed(): boolean {
    return this.#host.agent?.isSandboxed === true;
  }

  /** Whether its sandbox was made with this rule, and can keep it: it denies paths. */
  keeps(rule: Rule, cwd: string): boolean {
    const { isSandboxed = false, sandboxRules = [] } = this.#host.agent ?? {};
    const hasPaths = enforcementOf([rule], [cwd]).some(({ mounts }) => mounts.length > 0);
    const text = describeRule(rule);
    return isSandboxed && hasPaths && sandboxRules.some((each) => describeRule(each) === text);
  }

  get sandboxOption(): string {
    return this.#host.agent?.sandboxOption ?? "--sandbox";
  }

  get neverAsks(): boolean {
    return this.#broken !== undefined || this.#asks === false;
  }

  /** The facts about the agent that the gate needs. */
  get asking() {
    const { entry = {} } = this.#host.agent ?? {};
    return { agent: this.name, exactTitles: hasExactTitles(entry, this.#info.name) };
  }

  /** What the user should know before the first prompt; undefined if nothing. */
  get said(): string | undefined {
    const { name } = this;
    const instead = this.isSandboxed ? "only its sandbox can." : `\`${this.sandboxOption}\` can.`;
    if (this.#asks === false) return `${name} never asks: rules cannot stop it, ${instead}`;
    if (this.#broken !== undefined)
      return `${name} has done something without asking (${this.#broken}): rules cannot stop it, ${instead}`;
    if (this.#asks === undefined) return `Parley does not know ${name}: it counts as an agent that asks.`;
    return undefined;
  }

  broke(rule: string): void {
    this.#broken = rule;
    try {
      noteBroken(this.#host.folder, this.#identity, rule);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#host.warn(
        `${this.name} counts as an agent that never asks until this process ends, because it could not be written down: ${why}`,
      );
    }
  }

  get #asks(): boolean | undefined {
    return asksPermission(this.#host.agent?.entry ?? {}, this.#info.name);
  }

  get #identity() {
    const { entry } = this.#host.agent ?? {};
    const { name = "", version = "" } = this.#info;
    if (entry === undefined) return { command: name, version };
    const command = entry.transport === "stdio" ? [entry.command, ...entry.args].join(" ") : entry.url;
    return { command, version };
  }
}

/** What the user has answered for good, and what a trusted workspace says. */
function lastingRules(cwd: string): readonly Rule[] {
  return [...rememberedRules(permissionsPath()).list(), ...trustedSettings(cwd).rules];
}

function rulesOf(given: ProxyArguments): RunRules {
  const file = given.text("policy");
  const rules = { allow: given.list("allow"), ask: given.list("ask"), deny: given.list("deny") };
  if (file === undefined) return rules;
  const path = resolve(file);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile() || stat.size > mostBytes)
    return given.wrong("a file of at most 256 KiB", "policy");
  return { ...rules, policy: { path, text: readFileSync(path, "utf8") } };
}

function gatedOf({ cwd, additionalDirectories }: ProxiedSetup, sessionId: string): GatedSession {
  return { sessionId, cwd, roots: [cwd, ...additionalDirectories] };
}

function commandOf(params: Readonly<Record<string, unknown>>, session: GatedSession): EffectRequest {
  const { command, args, cwd, env } = params;
  const variables = (Array.isArray(env) ? env : []).filter(isObject);
  return {
    type: "execute",
    command: String(command),
    args: Array.isArray(args) ? args.map(String) : [],
    cwd: typeof cwd === "string" ? cwd : session.cwd,
    env: Object.fromEntries(variables.map(({ name, value }) => [String(name), String(value)])),
  };
}

/** Declares in `initialize`, in version 1 or 2, that our own agent should announce what it would do without asking. */
function announcing(params: Readonly<Record<string, unknown>>): object {
  const keys = ["clientCapabilities", "capabilities"].filter((key) => isObject(params[key]));
  const told = (keys.length === 0 ? ["clientCapabilities"] : keys).map((key) => {
    const capabilities = asObject(params[key]);
    return [key, { ...capabilities, _meta: { ...asObject(capabilities["_meta"]), [vetoMethod]: true } }];
  });
  return { ...params, ...Object.fromEntries(told) };
}

function isOutcome(decision: PolicyDecision): decision is PermissionOutcome {
  return typeof decision === "object" && "outcome" in decision;
}
