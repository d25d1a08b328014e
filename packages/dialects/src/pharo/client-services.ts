// What an agent of the dialect asks of our client: files, terminals and permission, as requests of version 1.

import { detailsOf, withMetaKeys } from "../exchange/details.ts";
import { type Call, type Exchange, type Fields, metaField } from "../exchange/exchange.ts";
import { optional, timedOutKey, timeoutKey } from "../exchange/library.ts";
import type {
  CreateTerminalRequest,
  ReadTextFileRequest,
  RequestPermissionRequest,
  WaitForExitRequest,
} from "../wire/pharo/types.gen.ts";
import { exitCodeOf, wholeWait } from "./exit-codes.ts";
import { callOver, decisionToPharo, isAllowed, madeUpCall, questionToV1 } from "./permission.ts";
import { mapToList } from "./servers.ts";

/** Handles what the agent asks for. */
export function handleAgentRequests(exchange: Exchange): void {
  let questions = 0;
  const madeUpId = (): string => `${madeUpCall}${++questions}`;
  const done = (): null => null;
  // the params have the shapes of the method table, which has checked them
  exchange.handle("peer", {
    "session/request_permission": (params, call) =>
      permission(exchange, params as object as RequestPermissionRequest, call, madeUpId),
    "fs/read_text_file": (params, call) => {
      const { startLine: line, lineLimit: limit, ...rest } = params as object as ReadTextFileRequest;
      call.forward({ ...rest, ...optional({ line, limit }) }, (result) => kept(result, "content"));
    },
    "fs/write_text_file": (params, call) => call.forward(params, done),
    "terminal/create": (params, call) => {
      const { env, ...rest } = params as object as CreateTerminalRequest;
      const request = { ...rest, ...(env === undefined ? {} : { env: mapToList(env) }) };
      call.forward(request, (result) => kept(result, "terminalId"));
    },
    "terminal/output": (params, call) => call.forward(params, outputToPharo),
    "terminal/wait_for_exit": (params, call) => wait(exchange, params as object as WaitForExitRequest, call),
    "terminal/kill": (params, call) => call.forward(params, done),
    "terminal/release": (params, call) => call.forward(params, done),
  });
}

/** The field of an answer that both sides have. */
function kept(result: Fields, name: string): Fields {
  return { [name]: result[name], ...metaField(result) };
}

function permission(
  exchange: Exchange,
  question: RequestPermissionRequest,
  call: Call,
  madeUpId: () => string,
): void {
  const { params, madeUp } = questionToV1(question, madeUpId);
  call.forwardThen(params, (answer) => {
    const decision = answer.error === undefined ? decisionToPharo(answer.result, question) : answer;
    if (decision.error === undefined) call.answer(decision.result);
    else call.refuse(decision.error);
    if (madeUp === undefined) return;
    const allowed = answer.error === undefined && isAllowed(answer.result, question);
    exchange.notify("us", "session/update", callOver(question, madeUp, allowed));
  });
}

/** Version 1 tells an exit by its status, the dialect by a number. */
function outputToPharo(result: Fields): Fields {
  const { output, exitStatus } = result;
  const exitCode = exitStatus === undefined || exitStatus === null ? null : exitCodeOf(exitStatus as Fields); // an object in version 1
  return { output, exitCode, ...metaField(result) };
}

/** Version 1 waits without end, and its answer has no output. */
function wait(exchange: Exchange, params: WaitForExitRequest, call: Call): void {
  const { sessionId, terminalId, timeout } = params;
  const request = { sessionId, terminalId, ...withMetaKeys(params, { [timeoutKey]: timeout }) };
  let isOver = false;
  let stopTimer = (): void => {};
  const answer = (exitCode: number | null, known?: unknown): void => {
    if (isOver) return;
    isOver = true;
    stopTimer();
    if (typeof known === "string") {
      call.answer({ output: known, exitCode });
      return;
    }
    exchange.ask("us", "terminal/output", { sessionId, terminalId }, (current) => {
      // the exit is known, so a terminal that is gone is no reason to fail
      const { output, exitCode: now } =
        current.error === undefined ? outputToPharo(current.result) : { output: "", exitCode: null };
      call.answer({ output, exitCode: exitCode ?? now });
    });
  };
  call.forwardThen(request, (exit) => {
    if (exit.error === undefined) {
      // another client of the dialect has told the output with the exit
      const hasTimedOut = metaField(exit.result)._meta?.[timedOutKey] === true;
      answer(hasTimedOut ? null : exitCodeOf(exit.result), detailsOf(exit.result)["output"]);
      return;
    }
    isOver = true;
    stopTimer();
    call.refuse(exit.error);
  });
  if (timeout === undefined) return;
  stopTimer = exchange.later(wholeWait(timeout), () => {
    call.cancelForwarded();
    answer(null);
  });
}
