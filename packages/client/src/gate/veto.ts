// Reads and answers `_parley.dev/veto`: an agent announces effects that it would have without asking.

import { RequestError } from "@parley/acp";
import { vetoMethod } from "@parley/acp/extensions";
import { isObject } from "@parley/acp/jsonrpc";
import type { SessionPolicy } from "@parley/sandbox";
import type { RuleOperation } from "../rules/rule.ts";
import { canonicalPath } from "../subjects/canonical-path.ts";
import { commandSubject } from "../subjects/command-subject.ts";
import type { RuleSubject } from "../subjects/subject.ts";
import type { Authority } from "./authorize.ts";
import type { GateState } from "./gate-state.ts";

const maxEffects = 1_000;

export interface VetoRequest {
  readonly subjects: readonly RuleSubject[];
  /** Files that a search would look into: nobody is asked about each, and each is answered for itself. */
  readonly isSearch: boolean;
}

export interface VetoAnswer {
  /** By their place in the request. */
  readonly refused: readonly { readonly effect: number; readonly reason: string }[];
  /** What the rules let through and hold back in a sandbox, for an agent that runs commands in one. */
  readonly sandbox?: SessionPolicy;
  /** The operations that any rule might forbid: others need not be asked about one by one. */
  readonly restricts: readonly RuleOperation[];
}

/** Of the files that a search would look into: those it must not. */
export function refusedSearches(
  subjects: readonly RuleSubject[],
  state: GateState,
  authority: Authority,
): VetoAnswer["refused"] {
  return authority
    .judge(state, subjects)
    .verdicts.flatMap(({ effect, always, reason }, at) =>
      effect === "deny" || (effect === "ask" && always) ? [{ effect: at, reason }] : [],
    );
}

/** Throws RequestError "invalid_params" for what cannot be understood: it is not for the agent to decide what was meant. */
export function readVeto(params: unknown, cwd: string): VetoRequest {
  const { effects, search } = recordOf(params);
  // none: only the rest of the answer is wanted
  if (!Array.isArray(effects) || effects.length > maxEffects)
    throw invalid("effects", `a list of at most ${maxEffects}`);
  return { subjects: effects.map((effect) => subjectFrom(effect, cwd)), isSearch: search === true };
}

function subjectFrom(effect: unknown, cwd: string): RuleSubject {
  const given = recordOf(effect);
  const text = (name: string): string => {
    const value = given[name];
    if (typeof value !== "string" || value === "") throw invalid(`effects/${name}`, "text");
    return value;
  };
  const { operation } = given;
  switch (operation) {
    case "read":
    case "write":
      return { origin: "claim", operation, path: canonicalPath(text("path"), cwd) };
    case "delete":
      return { origin: "claim", operation: "write", deletes: true, path: canonicalPath(text("path"), cwd) };
    case "exec": {
      const where = canonicalPath(typeof given["cwd"] === "string" ? given["cwd"] : cwd, cwd);
      const subject = commandSubject("claim", text("command"), undefined, where);
      return typeof given["sandbox"] === "string" ? { ...subject, sandbox: given["sandbox"] } : subject;
    }
    case "net":
      return { origin: "claim", operation, host: text("host") };
    case "mcp":
      return { origin: "claim", operation, tool: { server: text("server"), name: text("tool") } };
    default:
      throw invalid("effects/operation", "read, write, delete, exec, net or mcp");
  }
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function invalid(path: string, wanted: string): RequestError {
  const message = `${vetoMethod}: ${path} must be ${wanted}`;
  return RequestError.invalidParams(message, `/${path}`);
}
