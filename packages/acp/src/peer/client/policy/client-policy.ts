// The policy of a client: decides what an agent may do.

import { isObject } from "../../../base/objects.ts";
import { argumentText } from "../../../jsonrpc/errors.ts";
import type { PermissionRequest } from "../../../model/ask.ts";
import type { PermissionOption } from "../../../model/content.ts";
import type { ToolCallUpdate } from "../../../model/update.ts";
import type { ClientSession, RequestContext } from "../session/client-session.ts";

/**
 * Decides what an agent may do, before the user is asked. The client calls it for every permission request and, because
 * only v1 agents use the client's files and terminals, for every file access and command of a v1 agent. A policy that
 * throws denies. `permissionPolicy` of `@parley/client/policy` is one with rules.
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
  /**
   * Decides one request. "ask" leaves it to `requestPermission`; a client without that handler denies. For a permission
   * request, "allow" chooses the option of kind "allow_once"; where the agent offers none, the request is denied.
   */
  decide(request: PolicyRequest, context: RequestContext): PolicyDecision | Promise<PolicyDecision>;
  /**
   * Called when the user has answered a request that `decide` left to them, before the answer is used: keep an "always"
   * here. `option` is undefined when they chose none.
   */
  remember?(
    request: PolicyRequest,
    option: PermissionOption | undefined,
    context: RequestContext,
  ): void | Promise<void>;
  /** Called when the user cancels. What was allowed and has not been done yet will not be done. */
  cancel?(session: ClientSession): void;
}

/**
 * What a policy says: yes, no, or ask the user. The agent gets the `reason` of a denied file access or command; the reason
 * of a denied permission request stays here.
 */
export type PolicyDecision =
  | "allow"
  | "ask"
  | "deny"
  | { readonly decision: "allow" | "deny"; readonly reason?: string };

/**
 * What an agent wants: permission for something it does itself ("permission"), or something that the client would do for
 * it. More will be added: give a `switch` over `type` a `default:` that denies or asks.
 */
export type PolicyRequest =
  | {
      /** The agent asks for permission. */
      readonly type: "permission";
      /** The question of the agent, with the options to choose from. */
      readonly request: PermissionRequest;
      /** All that is known of the tool call that the request names. */
      readonly toolCall?: ToolCallUpdate;
    }
  | EffectRequest;

/**
 * Something that the client would do for a v1 agent: read or write a file, or run a command. More will be added: give a
 * `switch` over `type` a `default:` that denies or asks.
 *
 * @inline
 */
export type EffectRequest =
  | {
      readonly type: "read";
      /** An absolute path, without symbolic links where `files` can resolve them. */
      readonly path: string;
    }
  | {
      readonly type: "write";
      /** An absolute path, without symbolic links where `files` can resolve them. */
      readonly path: string;
      /** The new text of the file. */
      readonly content: string;
    }
  | {
      readonly type: "execute";
      /** The program. */
      readonly command: string;
      /** Its arguments. */
      readonly args: readonly string[];
      /** Where it runs: an absolute path. */
      readonly cwd: string;
      /** The environment variables that the agent sets. */
      readonly env: Readonly<Record<string, string>>;
    };

/** Throws a TypeError for what is no policy. */
export function checkPolicy(policy: unknown): void {
  if (policy === undefined || (isObject(policy) && typeof policy["decide"] === "function")) return;
  const got = isObject(policy) ? "an object without it" : argumentText(policy);
  throw new TypeError(`client: policy must be an object with a function decide, got ${got}`);
}
