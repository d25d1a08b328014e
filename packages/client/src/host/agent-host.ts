// A running agent and its sessions. Its questions and events go to the session that they belong to.

import type { ElicitationResponse, RequestContext } from "@parley/acp";
import type { AgentFacts } from "../conversation/session-link.ts";
import type { Decision } from "../gate/decision.ts";
import type { PermissionAsker } from "../gate/gate-options.ts";
import type { Asker, ElicitationQuestion } from "../managed/asker.ts";
import type { ManagedAgentEvent } from "../managed/connect-options.ts";
import type { ManagedConnection } from "../managed/manage-agent.ts";
import type { AgentProblem } from "../managed/problem.ts";
import { eventReporter, UnreadOutput } from "./event-reporter.ts";
import type { HostQuestions } from "./host-questions.ts";
import { LateUpdates } from "./late-updates.ts";
import { ReadingPace } from "./reading-pace.ts";
import type { SessionAgent } from "./session-agent.ts";
import type { SessionHost } from "./session-host.ts";

/** A question shows a few lines of it. */
const shownStderrLines = 5;

/** Answers every question of an agent. */
export interface HostAsker extends Asker, PermissionAsker {
  elicit(question: ElicitationQuestion, context: RequestContext): Promise<ElicitationResponse>;
}

/** What an agent is run with. */
export interface AgentWays {
  readonly asker: HostAsker;
  /** Aborts when the agent has no session any more. */
  readonly signal: AbortSignal;
  /** Shows the settings of the folder and asks whether the user trusts them. */
  askTrust(lines: readonly string[]): Promise<boolean>;
  warn(text: string): void;
  tell(text: string): void;
  onEvent(event: ManagedAgentEvent): void;
  onDecision(decision: Decision): void;
  /** Called before a file is written for the agent. It never rejects. */
  beforeWrite(path: string): Promise<void>;
}

/** An agent that may not have started yet. */
export interface HostedAgent {
  readonly facts: AgentFacts;
  /** How it or its commands are confined. */
  readonly sandbox: string;
  /** How long after its answer it may send the end of its text, in milliseconds. 0: all of it comes before. */
  readonly lateMs: number;
  /** Undefined before it has started. */
  readonly running: ManagedConnection | undefined;
  /** Whether its questions have a place for words beside a no. Others get them as a prompt. */
  readonly readsWords: boolean;
  close(): Promise<void>;
}

export interface AgentHostOptions {
  /** Whether the output of the agent to stderr is told. */
  readonly isVerbose?: boolean | undefined;
  /** Whether the user is asked to send a prompt again after a crash. Default: the user starts the agent again. */
  readonly asksAfterCrash?: boolean | undefined;
  /** Whether nobody types meanwhile: reading does not stop for keys and frames. */
  readonly isUnpaced?: boolean | undefined;
  /** Hears what happens to the agent. Default: the sessions say it. */
  onEvent?(event: ManagedAgentEvent): void;
  /** Hears what was decided. Default: the sessions say what was refused without asking. */
  onDecision?(decision: Decision): void;
}

export class AgentHost<Agent extends HostedAgent = HostedAgent> implements SessionAgent {
  readonly agent: Agent;
  readonly lateUpdates = (): LateUpdates => new LateUpdates();
  readonly #pace = new ReadingPace({ source: () => this.agent.running });
  readonly #sessions: SessionHost[] = [];
  readonly #closing = new AbortController();
  readonly #unread = new UnreadOutput();
  readonly #options: AgentHostOptions;
  /** What the user said beside a no, by session. */
  readonly #unsaid = new Map<string, string[]>();
  #closed: Promise<void> | undefined;

  constructor(run: (ways: AgentWays) => Agent, options: AgentHostOptions = {}) {
    this.#options = options;
    const tell = (text: string) => this.#each((session) => session.notice("info", text));
    const report = options.onEvent ?? this.#reporter(tell);
    const { signal } = this.#closing;
    this.agent = run({
      asker: this.#asker(),
      signal,
      askTrust: async (lines) => {
        const ask = "Trust this folder? Its settings take effect until they change.";
        return (await this.#sessions[0]?.asked.confirm(lines, ask, signal)) ?? false;
      },
      warn: (text) => this.#each((session) => session.notice("warning", text)),
      tell,
      onEvent: (event) => this.#event(event, report),
      onDecision: (decision) => this.#decision(decision),
      beforeWrite: async (path) => {
        await Promise.all(this.#sessions.map((session) => session.protect(path)));
      },
    });
  }

  get facts(): AgentFacts {
    return this.agent.facts;
  }

  get sandbox(): string {
    return this.agent.sandbox;
  }

  get connection(): ManagedConnection | undefined {
    return this.agent.running;
  }

  get lateMs(): number {
    return this.agent.lateMs;
  }

  takeUnsaid(sessionId: string): string | undefined {
    const said = this.#unsaid.get(sessionId);
    this.#unsaid.delete(sessionId);
    return said?.join("\n");
  }

  hold(isBehind: boolean): void {
    this.#pace.hold(isBehind);
  }

  heard(): void {
    if (this.#options.isUnpaced !== true) this.#pace.heard();
  }

  /** A session of the agent. The first one is asked what is about no session. */
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

  #reporter(tell: (text: string) => void): (event: ManagedAgentEvent) => void {
    const report = eventReporter(
      {
        showsProgress: true,
        progress: (text) => this.#each((session) => session.waits(text)),
        notice: tell,
        stderr: (text) => tell(`stderr: ${text.trimEnd()}`),
      },
      { isVerbose: this.#options.isVerbose ?? false, timeoutMs: undefined },
    );
    return (event) => {
      if (event.kind !== "unread") return report(event);
      const before = this.#unread.lines.length;
      this.#unread.add(event);
      // the first of its kind is told at once
      const lines = this.#unread.lines;
      if (lines.length > before) this.#each((session) => session.notice("warning", lines.at(-1) ?? ""));
    };
  }

  #event(event: ManagedAgentEvent, report: (event: ManagedAgentEvent) => void): void {
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

  #decision(decision: Decision): void {
    const { sessionId, summary, effect, by, reason, isAnswer, said, subjects } = decision;
    // what an agent has us do is refused with the words; a question of its own has no place for them
    if (said !== undefined && subjects[0]?.origin === "claim" && !this.agent.readsWords) {
      const words = `About "${summary}", which I did not allow: ${said}`;
      this.#unsaid.set(sessionId, [...(this.#unsaid.get(sessionId) ?? []), words]);
    }
    if (this.#options.onDecision !== undefined) return this.#options.onDecision(decision);
    // the transcript has the question and its answer
    if ((effect !== "deny" && effect !== "violation") || by === "user" || isAnswer) return;
    const how = effect === "deny" ? "refused" : "done by the agent without asking, against a rule";
    this.#owner(sessionId)?.notice("warning", `${summary}: ${how} (${reason})`);
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

  #asker(): HostAsker {
    const { signal } = this.#closing;
    const first = (): HostQuestions | undefined => this.#sessions[0]?.asked;
    return {
      permission: (question) => this.#owner(question.sessionId)?.asked.permission(question),
      elicit: async (question, { signal: over, session: asking }) => {
        const of = { signal: over, sessionId: asking?.sessionId };
        const owner = this.#owner(asking?.sessionId);
        const answer = await owner?.asked.elicitation(question, of);
        if ("completed" in question && question.completed.aborted)
          owner?.notice("info", "the agent reports that it is done");
        return answer ?? { action: "cancel" };
      },
      chooseLogin: async (methods, _agent, { why }) => {
        // above the list
        this.#sessions[0]?.notice("error", why);
        return methods.length === 1 ? methods[0]?.id : first()?.login(methods, signal);
      },
      credential: async (variable) => first()?.credential(variable, signal),
      terminalLogin: async (command) => (await first()?.terminal(command, signal)) ?? 1,
      retry: async (problem, { signal: over }) => {
        const hasCrashed = problem.kind === "crash";
        // the user starts a crashed agent again, and decides then what to send
        if (hasCrashed && this.#options.asksAfterCrash !== true) return false;
        const ask = "Send the prompt again? The agent may repeat what it already did.";
        const lines = [`the agent ${hasCrashed ? "ended" : "cannot continue"}: ${problem.message}`];
        return (await first()?.confirm(lines, ask, over)) ?? false;
      },
      newSession: async (problem, { signal: over }) => {
        const lines = [...crashLines(problem), `the agent no longer has the session: ${problem.message}`];
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
  return [`the agent ended: ${crash.message}`, ...stderr].filter((line) => line.trim() !== "");
}
