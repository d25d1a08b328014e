// The policy of a client: decides what an agent may do.

import { isObject } from "../../../base/objects.ts";
import { argumentText } from "../../../jsonrpc/errors.ts";
import type { PermissionOutcome, PermissionRequest } from "../../../model/ask.ts";
import type { ClientFiles, Terminals } from "../../../model/services.ts";
import type { SessionUpdate, ToolCallUpdate } from "../../../model/update.ts";
import type { ClientSession, RequestContext } from "../session/client-session.ts";

/**
 * Decides what an agent may do. The client calls it for every permission request, for every file access and command that the
 * client performs, and for every call of a tool that it gave to the session. Only v1 agents use the client's files and
 * terminals. If a policy throws, the request is denied. `permissionPolicy` of `@parley/client/policy` is a policy with rules.
 *
 * @example
 * import type { ClientPolicy } from "@parley/acp";
 *
 * export const readOnly: ClientPolicy = {
 *   decide(request) {
 *     switch (request.type) {
 *       case "read":
 *         return "allow";
 *       case "write":
 *       case "execute":
 *         return { decision: "deny", reason: "this client only lets agents read" };
 *       default:
 *         return "ask";
 *     }
 *   },
 * };
 */
export interface ClientPolicy {
  // As in AgentDefinition.prompt, the type parameter keeps the result of `async decide() { return "ask"; }` a literal.
  /**
   * Decides one request. "ask" puts `context.question` to the user; without `requestPermission`, the request is denied. For a
   * permission request, "allow" chooses the option of kind "allow_once"; if the agent offers none, the request is denied.
   */
  decide<const Literal extends never>(
    request: PolicyRequest,
    context: PolicyContext,
  ): PolicyDecision | Promise<PolicyDecision> | Literal;
  /**
   * Files and terminals that the policy guards itself. They are used if the client has no `files` and `terminals`. `decide` is not
   * called for their operations. Called once per session. They are closed with the session. Default: none.
   */
  services?(session: ClientSession, context: Pick<PolicyContext, "ask">): PolicyServices;
  /**
   * Answers `_parley.dev/veto`, with which an agent announces actions that it would do without asking (docs/policy.md). Default: agents
   * are not told that they can announce actions.
   */
  veto?(params: unknown, context: Omit<PolicyContext, "question">): Promise<object>;
  /** Called for each update of the agent that is not text, before the listeners of the session. */
  observe?(session: ClientSession, update: SessionUpdate): void;
  /** Called before a prompt is sent. */
  prompted?(session: ClientSession, context: Pick<PolicyContext, "ask">): void;
  /** Called when the user cancels. Allowed actions that have not been performed yet are refused. */
  cancel?(session: ClientSession): void;
}

/** The session, the signal and the question of a decision. */
export interface PolicyContext extends RequestContext {
  /** The question of the agent. For an effect, a question about it with options of kind "allow_once" and "reject_once". */
  readonly question: PermissionRequest;
  /**
   * Asks the user a question with `requestPermission`, such as `question` or one with more options. Resolves with the answer,
   * which you can return as the decision. Undefined if the client has no `requestPermission`.
   */
  readonly ask?:
    | ((
        question: PermissionRequest,
        options?: { readonly signal?: AbortSignal | undefined },
      ) => Promise<PermissionOutcome>)
    | undefined;
}

/** Files and terminals for one session. */
export interface PolicyServices {
  /** The files that agents may read and write. */
  readonly files: ClientFiles;
  /** Runs commands for agents. */
  readonly terminals: Terminals;
}

/**
 * The decision of a policy. A PermissionOutcome is an answer to `context.question`. The agent gets the `reason` of a denied
 * file access or command, but not the reason of a denied permission request.
 */
export type PolicyDecision =
  | "allow"
  | "ask"
  | "deny"
  | { readonly decision: "allow" | "deny"; readonly reason?: string }
  | PermissionOutcome;

/**
 * A request of an agent: permission for its own action ("permission"), or an action that the client performs for it. More
 * types will be added: give a `switch` over `type` a `default:` that denies or asks.
 */
export type PolicyRequest =
  | {
      /** The agent asks for permission. */
      readonly type: "permission";
      /** The question of the agent, with the options to choose from. */
      readonly request: PermissionRequest;
      /** Everything known about the tool call that the request names. */
      readonly toolCall?: ToolCallUpdate;
    }
  | EffectRequest;

/**
 * An action that the client performs for an agent: read or write a file or run a command for a v1 agent, or call a tool that
 * the client gave to the session. More types will be added: give a `switch` over `type` a `default:` that denies or asks.
 */
export type EffectRequest =
  | {
      readonly type: "read";
      /** An absolute path. Its symbolic links are resolved if `files` has `realPath`. */
      readonly path: string;
    }
  | {
      readonly type: "write";
      /** An absolute path. Its symbolic links are resolved if `files` has `realPath`. */
      readonly path: string;
      /** The new text of the file. Of bytes that are no text, their number, in words. */
      readonly content: string;
    }
  | {
      readonly type: "execute";
      /** The program. */
      readonly command: string;
      /** Its arguments. */
      readonly args: readonly string[];
      /** Its working directory: an absolute path. */
      readonly cwd: string;
      /** The environment variables that the agent sets. */
      readonly env: Readonly<Record<string, string>>;
    }
  | McpToolCall;

/**
 * A call of a tool that this client gave to the session, in any version of the protocol.
 *
 * @inline
 */
export interface McpToolCall {
  /** Always "mcp". */
  readonly type: "mcp";
  /** The name of the MCP server. */
  readonly server: string;
  /** The name of the tool. */
  readonly tool: string;
  /** The arguments of the call, as the agent sent them. */
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Throws a TypeError if the value is not a policy. */
export function checkPolicy(policy: unknown): void {
  if (policy === undefined || (isObject(policy) && typeof policy["decide"] === "function")) return;
  const got = isObject(policy) ? "an object without it" : argumentText(policy);
  throw new TypeError(`client: policy must be an object with a decide function, got ${got}`);
}
