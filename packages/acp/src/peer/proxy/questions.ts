// Asks the hooks for questions of the agent, and says what becomes of the question.

import type { Frame, FrameAction } from "../../forward/frame.ts";
import type { ElicitationRequest, PermissionRequest } from "../../model/ask.ts";
import { applied } from "./applied.ts";
import type { EditionReader } from "./edition-reader.ts";
import { actionOf, after, requiredCall, withItsMeta } from "./frame-actions.ts";
import type { ProxiedSession, ProxyDefinition } from "./proxy-definition.ts";

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
): FrameAction | PromiseLike<FrameAction> {
  return after(hook(ask, session, requiredCall(frame)), (value) =>
    value === undefined || value === ask
      ? undefined
      : actionOf(
          value,
          ({ _meta, ...outcome }) => ({ outcome, ...(_meta && { _meta }) }),
          (changed) => reader.withPermission(params, session.sessionId, ask, withItsMeta(ask, changed)),
        ),
  );
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
