// Asks the hooks for questions of the agent, and says what becomes of the question.

import { isPromiseLike } from "../../base/objects.ts";
import type { Frame, FrameAction } from "../../forward/frame.ts";
import type { ElicitationRequest, PermissionOutcome, PermissionRequest } from "../../model/ask.ts";
import { applied } from "./applied.ts";
import type { EditionReader } from "./edition-reader.ts";
import { actionOf, after, answeredLater, requiredCall, withItsMeta } from "./frame-actions.ts";
import { Answer, type ProxiedSession, type ProxyDefinition } from "./proxy-definition.ts";

/** A question that has been read. */
interface Asked<Ask, Session> {
  readonly frame: Frame;
  readonly params: object;
  readonly ask: Ask;
  readonly session: Session;
}

type Hooks = Required<ProxyDefinition<unknown>>;

export function askedPermission(
  hook: Hooks["permission"],
  reader: EditionReader,
  { frame, params, ask, session }: Asked<PermissionRequest, ProxiedSession<unknown>>,
  failed: (error: unknown) => FrameAction,
): FrameAction | PromiseLike<FrameAction> {
  const answered = ({ _meta, ...outcome }: PermissionOutcome) => ({ outcome, ...(_meta && { _meta }) });
  return after(hook(ask, session, requiredCall(frame)), (value) => {
    if (value === undefined || value === ask) return undefined;
    if (!(value instanceof Answer))
      return actionOf(value, answered, (changed) =>
        reader.withPermission(params, session.sessionId, ask, withItsMeta(ask, changed)),
      );
    const outcome = value.value;
    if (isPromiseLike(outcome)) return answeredLater(Promise.resolve(outcome).then(answered), failed);
    return { answer: { result: answered(outcome) } };
  });
}

export function askedElicitation(
  hook: Hooks["elicitation"],
  { frame, params, ask, session }: Asked<ElicitationRequest, ProxiedSession<unknown> | undefined>,
): FrameAction | PromiseLike<FrameAction> {
  return after(hook(ask, session, requiredCall(frame)), (value) =>
    value === undefined || value === ask
      ? undefined
      : actionOf(
          value,
          (answer) => answer,
          (changed) => applied(params, ask, withItsMeta(ask, changed)),
        ),
  );
}
