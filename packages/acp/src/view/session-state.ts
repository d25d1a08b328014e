// Applies the state, options, plans and title of a session to a view.

import { optional } from "../base/objects.ts";
import type { SessionConfigOption } from "../model/content.ts";
import { type PromptResult, promptError, type UpdateOf } from "../model/update.ts";
import type { CurrentMode } from "./session-view.ts";
import { presumeCancelled, reviveBackground } from "./tool-calls.ts";
import { patched, patchedMeta, touch, touchPart, type ViewState } from "./view-state.ts";

export function applyState(state: ViewState, update: UpdateOf<"state_update">): void {
  const wasBusy = state.busy;
  state.state = update.state;
  state.busy = update.state !== "idle";
  const { background } = update;
  // absent does not mean none (C57), and an unknown state may have any value here
  if (Array.isArray(background)) {
    state.background = background;
    reviveBackground(state);
  }
  if (update.state === "idle") {
    const result = resultOfIdle(update);
    // a repeated idle state is not a second end (C56), but may be the first that we see
    if (wasBusy) state.completions += 1;
    if (result !== undefined && (wasBusy || state.lastResult === undefined)) state.lastResult = result;
    if (result?.stopReason === "cancelled") presumeCancelled(state);
  }
  touchPart(state, "state");
}

function resultOfIdle(
  update: Extract<UpdateOf<"state_update">, { state: "idle" }>,
): PromptResult | undefined {
  if (typeof update.stopReason !== "string") return undefined;
  const { usage } = update;
  const error = update.stopReason === "error" && update.error ? promptError(update.error) : undefined;
  return {
    stopReason: update.stopReason,
    ...optional({ error, usage: usage ?? undefined }),
  };
}

export function applyResult(state: ViewState, messageId: string, result: PromptResult): void {
  state.lastResult = result;
  const prompt = state.fold.messages.user_message.get(messageId);
  if (prompt !== undefined) {
    prompt.result = result;
    touch(state, prompt);
  }
  if (result.stopReason === "cancelled") presumeCancelled(state);
  touchPart(state, "state");
}

export function applyUsage(state: ViewState, update: UpdateOf<"usage_update">): void {
  state.usage = { used: update.used, size: update.size };
  state.cost = patched(state.cost, update.cost);
  touchPart(state, "usage");
}

export function applyInfo(state: ViewState, update: UpdateOf<"session_info_update">): void {
  state.title = patched(state.title, update.title);
  state.updatedAt = patched(state.updatedAt, update.updatedAt);
  state._meta = patchedMeta(state._meta, update._meta);
  touchPart(state, "info");
}

export function applyConfigOptions(state: ViewState, update: UpdateOf<"config_option_update">): void {
  state.configOptions = [...update.configOptions];
  state.mode = currentMode(update.configOptions);
  touchPart(state, "config_options");
}

/** The first option of category "mode", in the agent's order. */
function currentMode(options: readonly SessionConfigOption[]): CurrentMode | undefined {
  for (const option of options) {
    if (option.category !== "mode" || option.type !== "select") continue;
    const value = option.currentValue;
    const choices = option.options.flatMap((choice) => ("options" in choice ? choice.options : [choice]));
    const name = choices.find((choice) => choice.value === value)?.name ?? value;
    return { configId: option.configId, value, name };
  }
  return undefined;
}

export function applyPlan(state: ViewState, { plan }: UpdateOf<"plan_update">): void {
  const { planId } = plan;
  const known = state.plans.get(planId);
  const item = known ?? { kind: "plan" as const, key: `plan:${planId}`, version: 0, planId, plan };
  // replaced, never merged (C28)
  item.plan = plan;
  if (known === undefined) {
    state.plans.set(planId, item);
    touchPart(state, "plans");
  }
  touch(state, item);
}

export function removePlan(state: ViewState, planId: string): void {
  const item = state.plans.get(planId);
  if (item === undefined) return;
  state.plans.delete(planId);
  state.fold.changes.forget(item);
  touchPart(state, "plans");
}
