// Runs scripts on the official SDK: registers handlers, adapts its contexts, and connects it to stdio or to a process.

import { type AgentProcess, spawnAgent } from "@parley/acp/internal/node";

type SdkCall = { readonly params: unknown; readonly signal: AbortSignal };

/** The entry point of the SDK for a version of the protocol. */
export function sdkOf(version: "v1" | "v2", isUnstable = false) {
  if (version === "v1")
    return isUnstable ? import("@agentclientprotocol/sdk/unstable") : import("@agentclientprotocol/sdk");
  return isUnstable
    ? import("@agentclientprotocol/sdk/experimental/v2/unstable")
    : import("@agentclientprotocol/sdk/experimental/v2");
}

/** Agent and client apps of every SDK entry point, without their overloads for each method. */
interface SdkApp {
  onRequest(method: string, handler: (call: SdkCall) => unknown): unknown;
  onRequest(
    method: string,
    parser: (params: unknown) => unknown,
    handler: (call: SdkCall) => unknown,
  ): unknown;
  onNotification(method: string, handler: (call: SdkCall) => unknown): unknown;
  onNotification(
    method: string,
    parser: (params: unknown) => unknown,
    handler: (call: SdkCall) => unknown,
  ): unknown;
}

interface SdkContext {
  request(method: string, params?: unknown, options?: { cancellationSignal?: AbortSignal }): Promise<unknown>;
  notify(method: string, params?: unknown): Promise<void>;
}

type AnyHandler = ((params: unknown, call: { readonly signal: AbortSignal }) => unknown) | undefined;

/**
 * Registers in the order of the script, requests first: the SDK asks every handler in that order, so whoever
 * comes last in the notifications has the longest way.
 */
export function register(
  app: object,
  script: { readonly requests: object; readonly notifications: object },
): void {
  // the apps' overloads want literal method names; at run time any name will do
  const sdk = app as SdkApp;
  const asIs = (params: unknown): unknown => params;
  for (const [method, handler] of Object.entries(script.requests as Record<string, AnyHandler>)) {
    const handle = ({ params, signal }: SdkCall): unknown => handler?.(params, { signal });
    if (method.startsWith("_")) sdk.onRequest(method, asIs, handle);
    else sdk.onRequest(method, handle);
  }
  for (const [method, handler] of Object.entries(script.notifications as Record<string, AnyHandler>)) {
    const handle = ({ params, signal }: SdkCall): unknown => handler?.(params, { signal });
    if (method.startsWith("_")) sdk.onNotification(method, asIs, handle);
    else sdk.onNotification(method, handle);
  }
}

/** A context of the SDK as a sender of our scripts. */
export function senderOf<Sender>(context: object): Sender {
  // as for the apps: overloads by literal names
  const sdk = context as SdkContext;
  const request = (method: string, params?: unknown, options?: { readonly signal?: AbortSignal }) =>
    sdk.request(method, params, options?.signal === undefined ? {} : { cancellationSignal: options.signal });
  const notify = (method: string, params?: unknown) => sdk.notify(method, params);
  // the caller names the sender of its own protocol version
  return { request, notify, requestExtension: request, notifyExtension: notify } as Sender;
}

/** The arguments of ndJsonStream for an agent on its own stdio. */
export function stdioStreams(): [WritableStream<Uint8Array>, ReadableStream<Uint8Array>] {
  const writable = new WritableStream<Uint8Array>({
    write: (chunk) =>
      new Promise((resolve, reject) => {
        process.stdout.write(chunk, (error) => (error ? reject(error) : resolve()));
      }),
  });
  const readable = new ReadableStream<Uint8Array>({
    start(controller) {
      process.stdin.on("data", (chunk: Uint8Array) => controller.enqueue(chunk));
      process.stdin.on("end", () => controller.close());
    },
  });
  return [writable, readable];
}

/** The arguments of ndJsonStream for a client, and the agent's process, which the caller closes. */
export function spawnStreams(
  command: string,
  args: readonly string[],
): [AgentProcess, WritableStream<Uint8Array>, ReadableStream<Uint8Array>] {
  const agent = spawnAgent(command, args);
  const decoder = new TextDecoder();
  let isOver = false;
  const readable = new ReadableStream<Uint8Array>({
    start(controller) {
      agent.open({
        bytes: (chunk) => {
          // copied: the channel may use its buffer again
          if (!isOver) controller.enqueue(chunk.slice());
        },
        drained: () => undefined,
        ended: () => {
          if (!isOver) controller.close();
          isOver = true;
        },
      });
    },
    cancel: () => {
      isOver = true;
    },
  });
  const writable = new WritableStream<Uint8Array>({
    write: (chunk) => {
      // the SDK writes whole messages, so no chunk splits a character
      agent.write(decoder.decode(chunk));
    },
  });
  return [agent, writable, readable];
}
