// The proxy `route`: sends each prompt to the agent behind it, or to another one in a session of its own.

import { RequestError } from "@parley/acp";
import { type Connection, optional } from "@parley/acp/jsonrpc";
import type { AvailableCommandsUpdate, ContentBlock } from "@parley/acp/model";
import { answer, type ProxiedSession, proxy, type ResultHook } from "@parley/acp/proxy";
import { asObject, type OtherAgent, otherAgent } from "./other-agent.ts";
import type { ShippedProxy } from "./shipped-proxy.ts";

/** The name of the agent behind it. */
const main = "main";

interface Data {
  /** Where prompts go that no rule sends elsewhere. */
  active: string;
  /** The one that works on a prompt. */
  busy: OtherAgent | undefined;
  /** The params that opened the session. */
  opened: object;
  readonly others: Map<string, Promise<OtherAgent>>;
}

export const route: ShippedProxy = {
  name: "route",
  summary: "Sends prompts to several agents: by /use NAME, or by a rule",
  options: {
    to: {
      type: "string",
      multiple: true,
      value: "NAME[=COMMAND]",
      summary:
        "Another agent: a name that parley agents lists, or a name of yours and its command; can be repeated",
    },
    when: {
      type: "string",
      multiple: true,
      value: "PATTERN=NAME",
      summary: "Prompts that match this regular expression go to this agent; can be repeated",
    },
  },

  create(given, { reach }) {
    const agents = new Map(given.list("to").map((each) => pair(each, each.indexOf("="))));
    if (agents.size === 0) given.wrong("at least one --to");
    const rules = given.list("when").map((each) => pair(each, each.lastIndexOf("=")));
    const patterns = rules.map(([pattern, name]) => {
      if (name !== main && !agents.has(name))
        given.wrong(`a rule for ${[...agents.keys(), main].join(" or ")}`);
      try {
        return [new RegExp(pattern, "i"), name] as const;
      } catch {
        return given.wrong(`--when with a regular expression before the last =, got ${pattern}`);
      }
    });
    const running = new Set<Connection>();
    let hello: object = {};

    const open = async (name: string, session: ProxiedSession<Data>): Promise<OtherAgent> => {
      const { opened, others } = session.data;
      const other = await otherAgent(await reach(agents.get(name) ?? name), session, { hello, opened });
      running.add(other.connection);
      void other.connection.closed.then(() => {
        others.delete(name);
        running.delete(other.connection);
      });
      return other;
    };
    const use = {
      type: "command" as const,
      name: "use",
      description: "Choose the agent that gets the prompts",
      input: { type: "text" as const, hint: [main, ...agents.keys()].join(" | ") },
    };
    const opened: ResultHook<Data> = (result, session, { params }) => {
      if (session === undefined) return;
      const { sessionId: _, ...rest } = asObject(params);
      session.data.opened = rest;
      const { availableCommands = [] } = asObject(result) as Partial<AvailableCommandsUpdate>; // of version 2, as it is
      const all = [...availableCommands, use];
      // behind the answer
      queueMicrotask(() =>
        session.update({ sessionUpdate: "available_commands_update", availableCommands: all }),
      );
    };

    return proxy<Data>({
      name: "route",
      version: "1.0.0",
      errors: "closed",
      // a hook has the whole turn of another agent
      hookMs: Number.POSITIVE_INFINITY,
      session: () => ({ active: main, busy: undefined, opened: {}, others: new Map() }),
      results: { "session/new": opened, "session/load": opened, "session/resume": opened },
      messages: {
        initialize({ params }) {
          hello = asObject(params);
        },
        async "session/prompt"({ params }, session, call) {
          const text = textOf(asObject(params)["prompt"]);
          const rule = patterns.find(([pattern]) => pattern.test(text));
          const name = rule?.[1] ?? session?.data.active ?? main;
          if (session === undefined || name === main || /^\/use\b/.test(text)) return undefined;
          const { data } = session;
          const opening = data.others.get(name) ?? open(name, session);
          data.others.set(name, opening);
          try {
            const other = await opening;
            data.busy = other;
            const prompt = { ...asObject(params), sessionId: other.sessionId };
            return answer(
              await other.connection.request("session/prompt", prompt, optional({ signal: call?.signal })),
            );
          } catch (error) {
            data.others.delete(name);
            return error instanceof RequestError
              ? error
              : new RequestError("unavailable", `${name}: ${(error as Error).message}`); // as: of a connection or a launch
          }
        },
        "session/cancel"(_, session) {
          const { busy } = session?.data ?? {};
          if (busy === undefined) return undefined;
          void busy.connection.notify("session/cancel", { sessionId: busy.sessionId });
          return null;
        },
      },
      prompt({ content }, { data }) {
        data.busy = undefined;
        const [, name = ""] = /^\/use\s*(\S*)/.exec(textOf(content)) ?? [];
        if (!/^\/use\b/.test(textOf(content))) return undefined;
        const isKnown = name === main || agents.has(name);
        if (isKnown) data.active = name;
        const known = [main, ...agents.keys()].join(", ");
        const say = isKnown
          ? `Prompts go to ${name} now.`
          : `Prompts go to ${data.active}. There are: ${known}.`;
        return answer({ stopReason: "end_turn" as const, say });
      },
      update: (update) =>
        update.sessionUpdate === "available_commands_update"
          ? { ...update, availableCommands: [...update.availableCommands, use] }
          : undefined,
      closed() {
        for (const connection of running) void connection.close();
      },
    });
  },
};

function pair(text: string, at: number): [string, string] {
  return at < 0 ? [text, text] : [text.slice(0, at), text.slice(at + 1)];
}

function textOf(content: unknown): string {
  const blocks: readonly Partial<ContentBlock & { text: string }>[] = Array.isArray(content) ? content : [];
  return blocks.map(({ text = "" }) => text).join("\n");
}
