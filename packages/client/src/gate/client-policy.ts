// The policy of a client, as @parley/acp has it; replaced by an import when that package exports it.

import type {
  ClientSession,
  PermissionOption,
  PermissionRequest,
  RequestContext,
  ToolCallUpdate,
} from "@parley/acp";

/** What an agent wants: an answer to a question of its own, or something that the client does for it. */
export type PolicyRequest =
  | {
      readonly type: "permission";
      readonly request: PermissionRequest;
      /** All that is known of the call that the question names. */
      readonly toolCall?: ToolCallUpdate;
    }
  | { readonly type: "read"; readonly path: string }
  | { readonly type: "write"; readonly path: string; readonly content: string }
  | {
      readonly type: "execute";
      readonly command: string;
      readonly args: readonly string[];
      readonly cwd: string;
      readonly env: Readonly<Record<string, string>>;
    };

export type PolicyDecision =
  | "allow"
  | "ask"
  | "deny"
  | { readonly decision: "allow" | "deny"; readonly reason?: string };

/** Decides what agents may do. */
export interface ClientPolicy {
  /** Decides what an agent wants. "ask" leaves it to `requestPermission`; without a handler that is a no. */
  decide(request: PolicyRequest, context: RequestContext): PolicyDecision | Promise<PolicyDecision>;
  /** Called when the user has answered a question that `decide` left to them. */
  remember?(
    request: PolicyRequest,
    option: PermissionOption | undefined,
    context: RequestContext,
  ): void | Promise<void>;
  /** The user cancelled: nothing that was allowed and is not done yet may be done. */
  cancel?(session: ClientSession): void;
}
