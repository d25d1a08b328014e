// The options and events of a managed agent.

import type { ClientDefinition, ElicitationResponse, RequestContext } from "@parley/acp";
import type { AgentSpec } from "../agents/agent-spec.ts";
import type { History } from "../history/history.ts";
import type { AgentSandbox } from "../launch/agent-sandbox.ts";
import type { LaunchEvent } from "../launch/launch-event.ts";
import type { Asker, ElicitationQuestion } from "./asker.ts";
import type { AgentProblem } from "./problem.ts";

/** An event to show to the user or to log. New kinds may be added: a `switch` needs a `default:`. */
export type ManagedAgentEvent =
  | LaunchEvent
  | { readonly kind: "crashed"; readonly message: string; readonly stderr: string }
  | { readonly kind: "restarting"; readonly reason: string }
  /**
   * The session was reopened after a restart, or because the agent had lost it. `new`: the agent has forgotten the
   * conversation.
   */
  | {
      readonly kind: "continued";
      readonly sessionId: string;
      readonly how: "loaded" | "resumed" | "new";
      readonly after: "restart" | "loss";
    }
  /** Another client of the agent has taken the session. The next prompt opens it again, if that client lets go of it. */
  | { readonly kind: "session_taken"; readonly sessionId: string }
  /** The agent works on a prompt and has sent nothing for so long: it may hang. */
  | { readonly kind: "quiet"; readonly ms: number }
  | { readonly kind: "login"; readonly method: string }
  | {
      readonly kind: "retrying";
      readonly problem: AgentProblem;
      readonly delayMs: number;
      readonly attempt: number;
    }
  | { readonly kind: "warning"; readonly message: string };

/**
 * Everything that `client()` takes except `auth`, and settings for starting, watching and recording the agent. `name`
 * and `version` are those of your app.
 */
export interface ConnectAgentOptions extends Omit<ClientDefinition, "auth" | "elicit"> {
  /** Shows a form, or an address to visit. Without it, agents are told that the client supports neither. */
  readonly elicit?:
    | ((
        question: ElicitationQuestion,
        context: RequestContext,
      ) => Promise<ElicitationResponse> | ElicitationResponse)
    | undefined;
  /** Asks the user during logins and recoveries. Default: every answer is no. */
  readonly asker?: Asker | undefined;
  /** The absolute working directory of the agent's process. Default: that of this process. */
  readonly cwd?: string | undefined;
  /** Variables for the agent's environment, such as credentials. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * Whether the agent's process runs in a sandbox, and which folders it has there (docs/sandbox.md). Where no sandbox
   * can start, the agent is not started. Default: `sandbox` of its spec.
   */
  readonly sandbox?: boolean | AgentSandbox | undefined;
  /** Aborts the start of the agent. It has no effect afterwards. */
  readonly signal?: AbortSignal | undefined;
  /** Called for each event: start, crash, restart, login, retry, warning. */
  readonly onEvent?: ((event: ManagedAgentEvent) => void) | undefined;
  /**
   * How long opening, loading or resuming a session may take, in milliseconds; the second attempt has twice as long.
   * Default 60,000.
   */
  readonly setupTimeoutMs?: number | undefined;
  /** How long a login by the agent may take, browser included, in milliseconds. Default 300,000. */
  readonly loginTimeoutMs?: number | undefined;
  /**
   * How often a crashed agent is restarted within five minutes: at once, then after `backoffMs`, twice that and so on.
   * Default 5.
   */
  readonly maxRestarts?: number | undefined;
  /** How long an agent may work on after a cancel before it is stopped, in milliseconds. Default 5,000. */
  readonly cancelTimeoutMs?: number | undefined;
  /** How long an agent may send nothing during a prompt before the event `quiet`, in milliseconds. Default 30,000. */
  readonly quietMs?: number | undefined;
  /** How often a prompt is sent again when the agent is rate limited. Default 4. */
  readonly maxRetries?: number | undefined;
  /**
   * The first pause if the agent does not name one, in milliseconds; each further one is twice as long. Default 1,000.
   */
  readonly backoffMs?: number | undefined;
  /** Records all sessions. It stays open when the agent is closed. */
  readonly history?: History | undefined;
  /** Agents that can be named in addition to the ready ones, such as those of the config file. */
  readonly agents?: readonly AgentSpec[] | Readonly<Record<string, AgentSpec>> | undefined;
}
