// Implements the verbs of a scripted agent; one that the client does not support is reported and skipped.

import { RequestError } from "@parley/acp";
import { errorKindOf, optional } from "@parley/acp/jsonrpc";
import type { ContentBlock, Meta } from "@parley/acp/model";
import type { AgentStep } from "./agent-scenario.ts";
import {
  clientVerbs,
  Ended,
  runSteps,
  runTurnSteps,
  type StepContext,
  type StepResult,
  type StepRunner,
  stepContext,
} from "./agent-verbs.ts";
import { untilAborted } from "./gates.ts";

type KeysOf<Step> = Step extends unknown ? keyof Step : never;
type Modifier =
  | "times"
  | "size"
  | "messageId"
  | "_meta"
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
  | "encoding"
  | "overwrite"
  | "after";
export type AgentVerb = Exclude<KeysOf<AgentStep>, Modifier>;
export type StepWith<Verb extends AgentVerb> = Extract<AgentStep, Readonly<Record<Verb, unknown>>>;
export type Verbs<Names extends AgentVerb> = {
  readonly [Verb in Names]: (step: StepWith<Verb>, context: StepContext) => StepResult;
};

const verbs: Verbs<AgentVerb> = {
  ...clientVerbs,
  say: (step, context) => chunks(context, "agent_message_chunk", step.say, step),
  think: (step, context) => chunks(context, "agent_thought_chunk", step.think, step),
  async plan({ plan, planId = "main" }, { session }) {
    await session.update({
      sessionUpdate: "plan_update",
      plan: { type: "items", planId, entries: [...plan] },
    });
  },
  async notice({ notice }, { session }) {
    await session.update({ sessionUpdate: "notice", ...notice });
  },
  async usage({ usage }, { session }) {
    await session.update({ sessionUpdate: "usage_update", ...usage });
  },
  tokens({ tokens }, { spent }) {
    spent.usage = tokens;
  },
  title({ title }, { session }) {
    session.setTitle(title);
  },
  availableCommands({ availableCommands }, { session }) {
    session.setAvailableCommands(availableCommands);
  },
  configOptions({ configOptions }, { session }) {
    session.setConfigOptions(configOptions);
  },
  mode({ mode }, { session }) {
    session.setConfigOptions(
      session.configOptions.map((option) =>
        option.category === "mode" && option.type === "select" ? { ...option, currentValue: mode } : option,
      ),
    );
  },
  async update({ update }, { session, turn }) {
    await (turn ?? session).update(update);
  },
  rawUpdate({ rawUpdate }, { run, session, values }) {
    const params = { sessionId: session.sessionId, update: rawUpdate };
    run.wire.raw({ jsonrpc: "2.0", method: "session/update", params }, values);
  },
  raw({ raw }, { run, values }) {
    run.wire.raw(raw, values);
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
  },
  async wait({ wait }, context) {
    const { run, session, signal } = context;
    if (wait === "cancelled") {
      context.handlesCancel = true;
      await untilAborted(new Promise(() => undefined), signal);
      if (!run.ended.aborted) run.note({ event: "cancelled" });
    } else if (wait === "prompt") await untilAborted(run.nextPrompt(session.sessionId), signal);
    else await untilAborted(run.gates.pass(wait.gate), signal);
  },
  async delay({ delay }, { run, signal }) {
    await run.clock.sleep(delay, signal);
  },
  async repeat({ repeat, steps }, context) {
    for (let i = 0; i < repeat; i++) {
      const ended = await runSteps(steps, context);
      if (ended !== undefined) return ended;
    }
  },
  work({ work }, context) {
    void context.session.runTurn((turn) => runTurnSteps(work, stepContext(context, turn)));
  },
  later({ later }, context) {
    context.run.afterTurn(context.session.sessionId, () => runOutsideTurn(later, context));
  },
  end: ({ end }) => new Ended(end),
  fail({ fail }) {
    if (fail === "bug") throw new Error("the scenario says that the agent has a bug here");
    throw new RequestError(errorKindOf(fail.code, fail.data), fail.message, fail);
  },
  async crash({ crash }, { run }) {
    await run.wire.crash(crash);
    return never(run.ended);
  },
  hang({ hang }, { run }) {
    if (hang === "agent") run.wire.fallSilent();
    return never(run.ended);
  },
};

const agentVerbs = Object.keys(verbs) as readonly AgentVerb[]; // the keys of the table above

export const runStep: StepRunner = (step, context) => {
  const verb = agentVerbs.find((name) => name in step);
  if (verb === undefined) return undefined;
  // as: the step has this verb
  const act = verbs[verb] as (step: AgentStep, context: StepContext) => StepResult;
  return act(step, context);
};

/** Runs steps outside of a turn, until the connection ends. */
export function runOutsideTurn(
  steps: readonly AgentStep[],
  context: Pick<StepContext, "run" | "session" | "values">,
): void {
  runSteps(steps, stepContext(context)).catch((error: unknown) => {
    context.run.note({ event: "failed", where: "outside a turn", message: String(error) });
  });
}

/** Waits for the end of the connection. */
async function never(ended: AbortSignal): Promise<Ended> {
  await untilAborted(new Promise(() => undefined), ended);
  return new Ended("cancelled");
}

async function chunks(
  { session, turn, signal, handlesCancel }: StepContext,
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
  given: string | ContentBlock,
  how: {
    readonly times?: number;
    readonly size?: number;
    readonly messageId?: string;
    readonly _meta?: Meta;
  },
): Promise<void> {
  const { times = 1, size, _meta } = how;
  const text = size === undefined || typeof given !== "string" ? given : sized(given, size);
  const content: ContentBlock = typeof text === "string" ? { type: "text", text } : text;
  const messageId = how.messageId ?? (turn === undefined ? crypto.randomUUID() : undefined);
  for (let i = 0; i < times && (handlesCancel || !signal.aborted); i++) {
    if (messageId === undefined && _meta === undefined)
      await (sessionUpdate === "agent_message_chunk" ? turn?.say(content) : turn?.think(content));
    else
      await session.update({
        sessionUpdate,
        messageId: messageId ?? crypto.randomUUID(),
        content,
        ...optional({ _meta }),
      });
  }
}

function sized(text: string, size: number): string {
  return text.repeat(Math.ceil(size / Math.max(text.length, 1))).slice(0, size);
}
