// What each verb of a scripted agent does. One that the client cannot serve is reported and skipped, so that one
// scenario is good for every client and version.

import { RequestError } from "../jsonrpc/errors.ts";
import type { ContentBlock, Meta } from "../model/content.ts";
import type { Outcome } from "../model/update.ts";
import { newId } from "../peer/base/new-id.ts";
import { Ended, type Place, runSteps, type StepRunner } from "./agent-run.ts";
import type { AgentStep } from "./agent-scenario.ts";
import { untilAborted } from "./gates.ts";
import { serviceVerbs } from "./service-verbs.ts";
import { toolVerbs } from "./tool-verbs.ts";

type KeysOf<Step> = Step extends unknown ? keyof Step : never;
type Modifier =
  | "times"
  | "size"
  | "messageId"
  | "meta"
  | "planId"
  | "steps"
  | "status"
  | "rawOutput"
  | "output"
  | "exit"
  | "choices"
  | "on"
  | "ops"
  | "as"
  | "line"
  | "limit"
  | "content"
  | "after";
export type AgentVerb = Exclude<KeysOf<AgentStep>, Modifier>;
export type StepWith<Verb extends AgentVerb> = Extract<AgentStep, Readonly<Record<Verb, unknown>>>;
type Done = Promise<Ended | undefined> | Ended | undefined;
export type Verbs<Names extends AgentVerb> = {
  readonly [Verb in Names]: (step: StepWith<Verb>, place: Place, runStep: StepRunner) => Done;
};

const verbs: Verbs<AgentVerb> = {
  ...toolVerbs,
  ...serviceVerbs,
  say: (step, place) => chunks(place, "agent_message_chunk", step.say, step),
  think: (step, place) => chunks(place, "agent_thought_chunk", step.think, step),
  async plan({ plan, planId = "main" }, { session }) {
    await session.update({
      sessionUpdate: "plan_update",
      plan: { type: "items", planId, entries: [...plan] },
    });
    return undefined;
  },
  async notice({ notice }, { session }) {
    await session.update({ sessionUpdate: "notice", ...notice });
    return undefined;
  },
  async usage({ usage }, { session }) {
    await session.update({ sessionUpdate: "usage_update", ...usage });
    return undefined;
  },
  tokens({ tokens }, { turn }) {
    turn?.setTokens(tokens);
    return undefined;
  },
  title({ title }, { session }) {
    session.setTitle(title);
    return undefined;
  },
  commands({ commands }, { session }) {
    session.setCommands(commands);
    return undefined;
  },
  options({ options }, { session }) {
    session.setOptions(options);
    return undefined;
  },
  mode({ mode }, { session }) {
    session.setOptions(
      session.options.map((option) =>
        option.category === "mode" && option.type === "select" ? { ...option, currentValue: mode } : option,
      ),
    );
    return undefined;
  },
  async update({ update }, { session, turn }) {
    await (turn ?? session).update(update);
    return undefined;
  },
  rawUpdate({ rawUpdate }, { run, session, values }) {
    const params = { sessionId: session.sessionId, update: rawUpdate };
    run.wire.raw({ jsonrpc: "2.0", method: "session/update", params }, values);
    return undefined;
  },
  raw({ raw }, { run, values }) {
    run.wire.raw(raw, values);
    return undefined;
  },
  async call({ call, as }, { run, values, signal }) {
    const { method } = call;
    let answer: unknown;
    const answered = run.wire.call(call, values).then((given) => {
      answer = given;
    });
    await untilAborted(answered, signal);
    run.note({ event: "called", method, answer });
    if (as !== undefined) values[as] = answer;
    return undefined;
  },
  async wait({ wait }, place) {
    const { run, session, signal } = place;
    if (wait === "cancelled") {
      place.heedsCancel = true;
      await untilAborted(new Promise(() => undefined), signal);
      if (!run.ended.aborted) run.note({ event: "cancelled" });
    } else if (wait === "prompt") await untilAborted(run.nextPrompt(session.sessionId), signal);
    else await untilAborted(run.gates.pass(wait.gate), signal);
    return undefined;
  },
  async delay({ delay }, { run, signal }) {
    await run.clock.sleep(delay, signal);
    return undefined;
  },
  async repeat({ repeat, steps }, place, runStep) {
    for (let i = 0; i < repeat; i++) {
      const ended = await runSteps(steps, place, runStep);
      if (ended !== undefined) return ended;
    }
    return undefined;
  },
  work({ work }, { run, session, values }, runStep) {
    void session.work(async (turn) => {
      const place = { run, session, turn, tool: undefined, values, signal: turn.signal, heedsCancel: false };
      return (await runSteps(work, place, runStep))?.end;
    });
    return undefined;
  },
  later({ later }, { run, session, values }, runStep) {
    run.afterTurn(session.sessionId, () => runOutsideTurn(later, { run, session, values }, runStep));
    return undefined;
  },
  // as: the outcome of a scenario is what a handler may return
  end: ({ end }) => new Ended(end as string | Outcome),
  fail({ fail }) {
    if (fail === "bug") throw new Error("the scenario says that the agent has a bug here");
    throw new RequestError(fail.code, fail.message, fail.data);
  },
  async crash({ crash }, { run }) {
    await run.wire.crash(crash);
    return never(run.ended);
  },
  hang({ hang }, { run }) {
    if (hang === "agent") {
      run.wire.fallSilent();
    }
    return never(run.ended);
  },
};

const agentVerbs = Object.keys(verbs) as readonly AgentVerb[]; // the keys of the table above

/** Does one step. */
export const runStep: StepRunner = (step, place) => {
  const verb = agentVerbs.find((name) => name in step);
  if (verb === undefined) return undefined;
  // as: a step that has the verb is what the verb takes
  const act = verbs[verb] as (step: AgentStep, place: Place, runStep: StepRunner) => Done;
  return act(step, place, runStep);
};

/** Out of turns nobody waits for the steps, and nobody cancels them but the end of the connection. */
export function runOutsideTurn(
  steps: readonly AgentStep[],
  { run, session, values }: Pick<Place, "run" | "session" | "values">,
  runner: StepRunner = runStep,
): void {
  const place: Place = {
    run,
    session,
    values,
    turn: undefined,
    tool: undefined,
    signal: run.ended,
    heedsCancel: false,
  };
  runSteps(steps, place, runner).catch((error: unknown) => {
    run.note({ event: "failed", where: "outside a turn", message: String(error) });
  });
}

/** Until the connection has gone. */
async function never(ended: AbortSignal): Promise<Ended> {
  await untilAborted(new Promise(() => undefined), ended);
  return new Ended("cancelled");
}

async function chunks(
  { session, turn, signal, heedsCancel }: Place,
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
  given: string | ContentBlock,
  how: { readonly times?: number; readonly size?: number; readonly messageId?: string; readonly meta?: Meta },
): Promise<undefined> {
  const { times = 1, size, meta } = how;
  const text = size === undefined || typeof given !== "string" ? given : sized(given, size);
  const content: ContentBlock = typeof text === "string" ? { type: "text", text } : text;
  const messageId = how.messageId ?? (turn === undefined ? newId() : undefined);
  for (let i = 0; i < times && (heedsCancel || !signal.aborted); i++) {
    const slow =
      messageId === undefined && meta === undefined
        ? sessionUpdate === "agent_message_chunk"
          ? turn?.say(content)
          : turn?.think(content)
        : session.update({
            sessionUpdate,
            messageId: messageId ?? newId(),
            content,
            ...(meta === undefined ? {} : { _meta: meta }),
          });
    if (slow !== undefined) await slow;
  }
  return undefined;
}

function sized(text: string, size: number): string {
  return text.repeat(Math.ceil(size / Math.max(text.length, 1))).slice(0, size);
}
