// The policy of a client: decides what an agent may do.

import { isObject } from "../../../base/objects.ts";
import { argumentText } from "../../../jsonrpc/errors.ts";
import type { PermissionRequest } from "../../../model/ask.ts";
import type { PermissionOption } from "../../../model/content.ts";
import type { ToolCallUpdate } from "../../../model/update.ts";
import type { ClientSession, RequestContext } from "../session/client-session.ts";

/**
 * Decides what an agent may do. The client calls it for every permission request, and before every file access and
 * command. A policy that throws denies.
 */
export interface ClientPolicy {
  /** Decides one request. "ask" leaves it to `requestPermission`; a client without that handler denies. */
  decide(request: PolicyRequest, context: RequestContext): PolicyDecision | Promise<PolicyDecision>;
  /**
   * Called when the user has answered a request that `decide` left to them, before the answer counts. `option` is
   * undefined when they chose none.
   */
  remember?(
    request: PolicyRequest,
    option: PermissionOption | undefined,
    context: RequestContext,
  ): void | Promise<void>;
  /** Called when the user cancels: nothing that was allowed and is not done yet may be done. */
  cancel?(session: ClientSession): void;
}

/** `reason` of a denied file access or command is sent to the agent. */
export type PolicyDecision =
  | "allow"
  | "ask"
  | "deny"
  | { readonly decision: "allow" | "deny"; readonly reason?: string };

/** What an agent wants. More will be added: give a switch over `type` a `default:` that denies or asks. */
export type PolicyRequest =
  | {
      /** The agent asks for permission. */
      readonly type: "permission";
      readonly request: PermissionRequest;
      /** All that is known of the tool call that the request names. */
      readonly toolCall?: ToolCallUpdate;
    }
  | EffectRequest;

/**
 * Something that the client would do for the agent.
 *
 * @inline
 */
export type EffectRequest =
  | {
      readonly type: "read";
      /** Without symbolic links, where `files` can resolve them. */
      readonly path: string;
    }
  | {
      readonly type: "write";
      /** Without symbolic links, where `files` can resolve them. */
      readonly path: string;
      readonly content: string;
    }
  | {
      readonly type: "execute";
      readonly command: string;
      readonly args: readonly string[];
      readonly cwd: string;
      /** The variables that the agent sets. */
      readonly env: Readonly<Record<string, string>>;
    };

/** Throws a TypeError for what is no policy. */
export function checkPolicy(policy: unknown): void {
  if (policy === undefined || (isObject(policy) && typeof policy["decide"] === "function")) return;
  const got = isObject(policy) ? "an object without it" : argumentText(policy);
  throw new TypeError(`client: policy must be an object with a function decide, got ${got}`);
}
