// The proxy `route`: sends each prompt to the agent behind it, or to another one in a session of its own.

import { RequestError, textOf } from "@parley/acp";
import type { AvailableCommandsUpdate, ContentBlock } from "@parley/acp/model";
import { answer, proxy, type ResultHook } from "@parley/acp/proxy";
import { option } from "../command/command.ts";
import { asked, asObject, cancelOthers, OtherAgents, type OtherSessions } from "./other-agent.ts";
import type { ShippedProxy } from "./shipped-proxy.ts";

/** The name of the agent behind it. */
const main = "main";
const chosen = /^\/use\b\s*(\S*)/;

interface Data extends OtherSessions {
  /** Where prompts go that no rule sends elsewhere. */
  active: string;
}

export const route: ShippedProxy = {
  name: "route",
  summary: "Sends prompts to several agents: by /use NAME, or by a rule",
  options: {
    to: option(
      "NAME[=COMMAND]",
      "Another agent: a name that parley agents lists, or a name of yours and its command; can be repeated",
      { multiple: true },
    ),
    when: option(
      "PATTERN=NAME",
      "Prompts that match this regular expression go to this agent; can be repeated",
      { multiple: true },
    ),
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
    const others = new OtherAgents((name) => reach(agents.get(name) ?? name));
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
      session: () => ({ active: main, busy: undefined, opened: {}, others: new Map() }),
      results: { "session/new": opened, "session/load": opened, "session/resume": opened },
      messages: {
        initialize({ params }) {
          others.hello = asObject(params);
        },
        "session/prompt"({ method, params }, session, call) {
          const { prompt: content } = asObject(params);
          // as: the agent refuses what is no content
          const text = Array.isArray(content) ? wordsOf(content as ContentBlock[]) : "";
          const name = patterns.find(([pattern]) => pattern.test(text))?.[1] ?? session?.data.active ?? main;
          if (session === undefined || name === main || chosen.test(text)) return undefined;
          const prompted = others.prompt(name, session, { method, params, signal: call?.signal });
          return answer(prompted.catch((error: unknown) => Promise.reject(refusalOf(error, name))));
        },
        // a message to a running turn goes to the agent that works on it
        "_session/steering": ({ method, params }, session) =>
          session?.data.busy && answer(session.data.busy.then((busy) => asked(busy, { method, params }))),
        "session/cancel"(_, session) {
          if (session !== undefined) cancelOthers(session.data);
          return undefined;
        },
      },
      prompt({ content }, { data }) {
        const [, name] = chosen.exec(wordsOf(content)) ?? [];
        if (name === undefined) return undefined;
        const isKnown = name === main || agents.has(name);
        if (isKnown) data.active = name;
        const hint = isKnown ? " now" : `. There are: ${[main, ...agents.keys()].join(", ")}`;
        return answer({ stopReason: "end_turn" as const, say: `Prompts go to ${data.active}${hint}.` });
      },
      update: (update) =>
        update.sessionUpdate === "available_commands_update"
          ? { ...update, availableCommands: [...update.availableCommands, use] }
          : undefined,
      closed: () => others.close(),
    });
  },
};

function pair(text: string, at: number): [string, string] {
  return at < 0 ? [text, text] : [text.slice(0, at), text.slice(at + 1)];
}

function refusalOf(error: unknown, name: string): RequestError {
  if (error instanceof RequestError) return error;
  return new RequestError("unavailable", `${name}: ${(error as Error).message}`); // as: of a launch
}

function wordsOf(content: readonly ContentBlock[]): string {
  return content.map((block) => textOf(block)).join("\n");
}
