// Asks the client for a veto before calls that the mode allows; a veto can refuse or ask, never allow.

import { RequestError, type Turn } from "@parley/acp";
import { extensionIn, vetoMethod } from "@parley/acp/extensions";
import type { Access, SandboxPolicy, Vetoes } from "../tools/base/tool.ts";

const maxEffects = 1_000;

interface Effect {
  readonly operation: "read" | "write" | "delete" | "exec" | "net" | "mcp";
  readonly [detail: string]: string;
}

/** Undefined when the client does not want vetoes. */
export function clientVetoes({ client, session }: Pick<Turn, "client" | "session">): Vetoes | undefined {
  if (extensionIn(client.capabilities._meta, vetoMethod) !== true) return undefined;
  /** The operations that the client's rules restrict, from its last answer. */
  let restricts: readonly string[] | undefined;
  const ask = async (effects: readonly Effect[], search: boolean, signal?: AbortSignal) => {
    const { sessionId } = session;
    const params = { sessionId, effects, ...(search && { search }) };
    const answer = readAnswer(await client.request(vetoMethod, params, { signal }));
    restricts = answer.restricts;
    return answer;
  };
  return {
    async refusalOf(access, signal, sandbox) {
      const effects = effectsOf(access).map((effect) =>
        effect.operation === "exec" && sandbox !== undefined ? { ...effect, sandbox } : effect,
      );
      if (effects.length === 0) return undefined;
      const { refused } = await ask(effects, false, signal);
      return refused[0]?.reason;
    },
    async sandboxPolicy(signal) {
      return (await ask([], false, signal)).sandbox;
    },
    async unreadable(paths) {
      const found = new Set<string>();
      for (let from = 0; from < paths.length; from += maxEffects) {
        if (restricts !== undefined && !restricts.includes("read")) return found;
        const some = paths.slice(from, from + maxEffects);
        const { refused } = await ask(
          some.map((path) => ({ operation: "read", path })),
          true,
        );
        for (const { effect } of refused) found.add(some[effect] ?? "");
      }
      return found;
    },
  };
}

function effectsOf(access: Access): readonly Effect[] {
  switch (access.type) {
    case "none":
      return [];
    case "read":
      return access.paths.map((path) => ({ operation: "read", path }));
    case "write": {
      const { verb = "write", paths, reads } = access;
      const operations: Effect["operation"][] = verb === "move" ? ["write", "delete"] : [verb];
      if (reads === true) operations.unshift("read");
      return paths.flatMap((path) => operations.map((operation) => ({ operation, path })));
    }
    case "run":
      return [{ operation: "exec", command: access.command, cwd: access.cwd }];
    case "host":
      return [{ operation: "net", host: access.host }];
    case "mcp":
      return [{ operation: "mcp", server: access.server, tool: access.tool }];
  }
}

interface Answer {
  readonly refused: readonly { readonly effect: number; readonly reason: string }[];
  readonly restricts: readonly string[];
  readonly sandbox: SandboxPolicy;
}

/** Throws for a malformed answer, which counts as a refusal. */
function readAnswer(value: unknown): Answer {
  const { refused, restricts, sandbox } = (value ?? {}) as Partial<Record<keyof Answer, unknown>>; // each is checked
  if (!Array.isArray(refused) || !Array.isArray(restricts)) {
    const message = `${vetoMethod}: expected { refused: [...], restricts: [...] }`;
    throw RequestError.invalidParams(message);
  }
  return {
    refused: refused.map((each: unknown) => {
      const { effect, reason } = (each ?? {}) as { effect?: unknown; reason?: unknown }; // each is checked
      return { effect: Number(effect), reason: typeof reason === "string" ? reason : "a rule" };
    }),
    restricts: restricts.map(String),
    sandbox: readPolicy(sandbox),
  };
}

/** A client that says nothing of it has no rules for it. */
function readPolicy(value: unknown): SandboxPolicy {
  const { write, hide, readOnly, network } = (value ?? {}) as Readonly<Record<string, unknown>>; // each is checked
  const paths = (list: unknown): string[] =>
    Array.isArray(list) ? list.filter((path) => typeof path === "string") : [];
  return {
    write: paths(write),
    hide: paths(hide),
    readOnly: paths(readOnly),
    hasHostNetwork: network === "host",
  };
}
