// A running agent of a conversation. Its questions and events go to the session that they belong to.

import { reviewKey } from "@parley/acp/extensions";
import type { AgentProblem, ManagedAgentEvent } from "@parley/client";
import type { AgentFacts } from "@parley/client/conversation";
import { ReadingPace, type SessionAgent, type SessionHost } from "@parley/client/host";
import type { ManagedConnection } from "@parley/client/internal";
import type { Decision } from "@parley/client/policy";
import { type AgentTarget, agentTarget } from "../../live/agent-target.ts";
import { eventReporter, UnreadOutput } from "../../live/event-reporter.ts";
import { claimKnown, type HistoryOpener } from "../../live/history-opener.ts";
import { LiveAgent, type LiveAsker } from "../../live/live-agent.ts";
import type { LiveOptions } from "../../live/live-options.ts";
import type { SecretsLoader } from "../../settings/known-secrets.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import { agentFacts, sandboxText } from "./agent-facts.ts";

/** How long an agent may take to end a cancelled turn. The user forces one that takes too long. */
const cancelTimeoutMs = 60_000;

/** A question shows a few lines of it. */
const shownStderrLines = 5;

export interface HostOptions {
  readonly options: LiveOptions;
  readonly secrets: SecretsLoader;
  readonly history: HistoryOpener | undefined;
}

export class ConversationAgent implements SessionAgent {
  readonly agent: LiveAgent;
  readonly #options: LiveOptions;
  readonly #pace = new ReadingPace({ source: () => this.agent.running });
  readonly #sessions: SessionHost[];
  readonly #closing = new AbortController();
  readonly #unread = new UnreadOutput();
  #closed: Promise<void> | undefined;

  /** Finds the agent and the session; nothing is started. Throws a CommandError. */
  static async find(
    { options, history }: HostOptions,
    first: SessionHost,
    { claims = true } = {},
  ): Promise<AgentTarget> {
    const target = await agentTarget(options, history, (text) => first.notice("warning", text));
    if (target.known !== undefined && claims) await claimKnown(history, target.known, options.takesOver);
    return target;
  }

  constructor({ options, secrets, history }: HostOptions, target: AgentTarget, first: SessionHost) {
    this.#sessions = [first];
    this.#options = options;
    const report = eventReporter(
      {
        showsProgress: true,
        progress: (text) => this.#each((session) => session.waits(text)),
        notice: (text) => this.#each((session) => session.notice("info", text)),
        stderr: (text) => this.#each((session) => session.notice("info", `stderr: ${text.trimEnd()}`)),
      },
      { isVerbose: options.showsStderr, timeoutMs: undefined },
    );
    this.agent = new LiveAgent({
      options,
      target,
      secrets,
      history,
      asker: this.#asker(),
      askTrust: (lines) =>
        first.asked.confirm(lines, "Trust this folder, until its settings change?", this.#closing.signal),
      cancelTimeoutMs,
      unstable: ["fork", "plans", "subagents"],
      // so that our own agent leaves snapshots and /undo to the review of chat
      _meta: { [reviewKey]: true },
      isStderrShown: false,
      signal: this.#closing.signal,
      notice: (text) => this.#each((session) => session.notice("warning", safeLine(text))),
      tell: (text) => this.#each((session) => session.notice("info", safeLine(text))),
      onEvent: (event) => this.#event(event, report),
      onDecision: (decision) => this.#decision(decision),
      beforeWrite: async (path) => {
        await Promise.all(this.#sessions.map((session) => session.protect(path)));
      },
    });
  }

  get facts(): AgentFacts {
    return agentFacts(this.#options, this.agent);
  }

  get sandbox(): string {
    return sandboxText(this.agent, this.#options);
  }

  get connection(): ManagedConnection | undefined {
    return this.agent.running;
  }

  get lateMs(): number {
    return this.agent.target.entry.traits?.lateMs ?? 0;
  }

  takeUnsaid(sessionId: string): string | undefined {
    return this.agent.takeUnsaid(sessionId);
  }

  hold(isBehind: boolean): void {
    this.#pace.hold(isBehind);
  }

  heard(): void {
    this.#pace.heard();
  }

  /** Another session of the same agent. */
  join(session: SessionHost): void {
    this.#sessions.push(session);
  }

  /** Closes the agent with its last session. */
  async leave(session: SessionHost): Promise<void> {
    const at = this.#sessions.indexOf(session);
    if (at >= 0) this.#sessions.splice(at, 1);
    if (this.#sessions.length > 0) return;
    this.#closing.abort();
    this.#closed ??= this.agent.close();
    await this.#closed;
  }

  #each(work: (session: SessionHost) => void): void {
    for (const session of [...this.#sessions]) work(session);
  }

  #event(event: ManagedAgentEvent, report: (event: ManagedAgentEvent) => void): void {
    if (event.kind === "unread") {
      const before = this.#unread.lines.length;
      this.#unread.add(event);
      // the first of its kind is told at once
      const lines = this.#unread.lines;
      if (lines.length > before) this.#each((session) => session.notice("warning", lines.at(-1) ?? ""));
      return;
    }
    if (event.kind === "crashed") {
      const { message, stderr } = event;
      const error = Object.assign(new Error(`the agent ended: ${message}`), { stderr });
      this.#each((session) => session.crashed(error));
    }
    if (event.kind === "session_taken") {
      const error = Object.assign(new Error("another client has taken the session"), { kind: event.kind });
      this.#sessions.find(({ sessionId }) => sessionId === event.sessionId)?.crashed(error);
    }
    report(event);
    if (event.kind === "continued")
      this.#each((session) => {
        if (session.sessionId === event.sessionId || this.#sessions.length === 1) session.continued();
      });
  }

  #decision({ sessionId, summary, effect, by, reason, isAnswer }: Decision): void {
    // the transcript has the question and its answer
    if ((effect !== "deny" && effect !== "violation") || by === "user" || isAnswer) return;
    const how = effect === "deny" ? "refused" : "done by the agent without asking, against a rule";
    this.#owner(sessionId)?.notice("warning", `${safeLine(summary)}: ${how} (${safeLine(reason)})`);
  }

  // ---- questions

  /** The session, or the one that has it as a subagent. */
  #owner(sessionId: string | undefined): SessionHost | undefined {
    return (
      this.#sessions.find((each) => each.sessionId === sessionId) ??
      this.#sessions.find((each) => sessionId !== undefined && each.hasSubagent(sessionId)) ??
      this.#sessions[0]
    );
  }

  #asker(): LiveAsker {
    const { signal } = this.#closing;
    const first = () => this.#sessions[0]?.asked;
    return {
      permission: (question) => this.#owner(question.sessionId)?.asked.permission(question),
      elicit: async (question, { signal: over, session: asking }) => {
        const of = { signal: over, sessionId: asking?.sessionId };
        const answer = await this.#owner(asking?.sessionId)?.asked.elicitation(question, of);
        return answer ?? { action: "cancel" };
      },
      chooseLogin: async (methods, _agent, { why }) => {
        // above the list
        this.#sessions[0]?.notice("error", safeLine(why));
        return methods.length === 1 ? methods[0]?.id : first()?.login(methods, signal);
      },
      credential: async (variable) => first()?.credential(variable, signal),
      terminalLogin: async (command) => (await first()?.terminal(command, signal)) ?? 1,
      retry: async (problem, { signal: over }) => {
        // the user starts a crashed agent again, and decides then what to send
        if (problem.kind === "crash") return false;
        const ask = "Send the prompt again? The agent may repeat what it already did.";
        return (await first()?.confirm([problemText(problem)], ask, over)) ?? false;
      },
      newSession: async (problem, { signal: over }) => {
        const lines = [
          ...crashLines(problem),
          `the agent no longer has the session: ${safeLine(problem.message)}`,
        ];
        const ask = "Start a new one? It does not know the previous conversation.";
        return (await first()?.confirm(lines, ask, over)) ?? false;
      },
    };
  }
}

/** Why the agent was started again, with the end of what it wrote to stderr. */
function crashLines({ crash }: AgentProblem): readonly string[] {
  if (crash === undefined) return [];
  const stderr = crash.stderr.trim().split("\n").slice(-shownStderrLines);
  return [`the agent ended: ${crash.message}`, ...stderr].map(safeLine).filter((line) => line !== "");
}

function problemText({ message }: AgentProblem): string {
  return `the agent cannot continue: ${safeLine(message)}`;
}
