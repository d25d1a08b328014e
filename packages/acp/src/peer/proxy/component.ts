// The components of a chain, and what happens when one fails.

import { milliseconds } from "../../base/deadline.ts";
import { checkOptions, type Keys } from "../../base/known-options.ts";
import { argumentText } from "../../jsonrpc/errors.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import type { ServedAgent } from "../agent/served-agent.ts";
import type { AcpProxy } from "./proxy.ts";

/** What happens when a component has gone, because its process ended or its connection closed. */
export type OnExit = "restart" | "bypass" | "fail";

/** A part of a chain that is started when a client initialises. */
export interface ChainComponent {
  /** Its name in errors and logs. */
  readonly name: string;
  /** A proxy or an agent in this process, or a function that starts one and returns its transport, or a promise of it. */
  readonly start: AcpProxy | ServedAgent | (() => Transport | PromiseLike<Transport>);
  /**
   * What happens when it has gone. "restart": it is started again for the next message. "bypass": the chain continues without
   * it. "fail": the chain ends. An agent cannot be bypassed. Default: "fail".
   */
  readonly onExit?: OnExit;
  /**
   * What happens to a message when a hook throws. "open": the message passes. "closed": it is refused. Only for a proxy in this
   * process. Default: what the proxy's definition says.
   */
  readonly errors?: "open" | "closed";
  /** It decides what is allowed: it is never bypassed, and its errors are closed. Default: what the proxy's definition says. */
  readonly policy?: boolean;
  /**
   * The component counts as gone if it reads nothing for this time while messages wait for it, or if a proxy does not answer
   * `initialize` within it. In milliseconds. Default: 60,000.
   */
  readonly stallMs?: number;
}

/** A component as a chain runs it. */
export interface ChainStageComponent extends ChainComponent {
  /** Only for agents: called when one of its sessions has been closed or deleted. */
  readonly sessionEnded?: (sessionId: string) => void;
}

const componentKeys: Keys<ChainComponent> = {
  name: true,
  start: true,
  onExit: true,
  errors: true,
  policy: true,
  stallMs: true,
};

/** A part of a chain, as an app may write it. */
export type ChainPart = ChainComponent | ChainComponent["start"];

const proxies = new WeakSet<object>();

/** Remembers a proxy that `proxy()` has made. */
export function markProxy(made: AcpProxy): void {
  proxies.add(made);
}

const chains = new WeakMap<object, readonly ChainComponent[]>();

/** Remembers a chain that `conductor()` has made. */
export function markChain(made: object, components: readonly ChainComponent[]): void {
  chains.set(made, components);
}

/**
 * Replaces each chain by its components, for which what was said of the chain counts. A chain at the end that has an agent stays as
 * it is, and is served as an agent.
 */
export function flattened(components: readonly ChainComponent[]): readonly ChainComponent[] {
  return components.flatMap((component, at) => {
    const inner = chains.get(component.start);
    const isAgentOfItsOwn = at === components.length - 1 && !isProxy(inner?.at(-1)?.start);
    if (inner === undefined || isAgentOfItsOwn) return component;
    const { name: _, start: __, ...said } = component;
    return inner.map((each) => checked({ ...each, ...said, ...(isPolicy(each) && { policy: true }) }));
  });
}

export function isProxy(value: unknown): value is AcpProxy {
  return typeof value === "object" && value !== null && proxies.has(value);
}

/** Throws a TypeError that says what is wrong with a part. */
export function componentOf(part: ChainPart, at: number, isLast: boolean): ChainComponent {
  const component = named(part, at, isLast);
  const { name, start, onExit, errors, stallMs } = component;
  if (typeof start !== "function" && !isProxy(start) && typeof start?.connect !== "function") {
    throw new TypeError(
      `conductor: ${name}: expected a proxy, an agent, or a function that returns a transport, got ${argumentText(start)}`,
    );
  }
  if (onExit !== undefined && !["restart", "bypass", "fail"].includes(onExit))
    throw new TypeError(
      `conductor: ${name}: onExit must be "restart", "bypass" or "fail", got ${argumentText(onExit)}`,
    );
  if (errors !== undefined && errors !== "open" && errors !== "closed")
    throw new TypeError(`conductor: ${name}: errors must be "open" or "closed", got ${argumentText(errors)}`);
  if (stallMs !== undefined) milliseconds(`conductor: ${name}: stallMs`, stallMs);
  return checked(component);
}

/** Nothing goes around a component that decides what is allowed. */
function checked(component: ChainComponent): ChainComponent {
  const { name, onExit, errors } = component;
  if (isPolicy(component)) {
    const why = "it decides what is allowed, and nothing may pass without it";
    if (onExit === "bypass") throw new TypeError(`conductor: ${name} cannot be bypassed: ${why}`);
    if (errors === "open") throw new TypeError(`conductor: the errors of ${name} cannot be open: ${why}`);
  }
  return component;
}

/** Why this agent cannot be bypassed, if that was asked for. */
export function bypassRefusal({ name, onExit }: ChainComponent): string | undefined {
  if (onExit !== "bypass") return undefined;
  return `${name} stands at the end of the chain and cannot be bypassed: nothing is behind it. Set onExit to "restart" or "fail"`;
}

export function isPolicy({ policy, start }: ChainComponent): boolean {
  return policy === true || (isProxy(start) && start.definition.policy === true);
}

function named(part: ChainPart, at: number, isLast: boolean): ChainComponent {
  if (typeof part === "object" && part !== null && "start" in part) {
    checkOptions(`conductor: component ${at + 1}`, part, componentKeys);
    if (typeof part.name !== "string" || part.name === "")
      throw new TypeError(`conductor: component ${at + 1} needs a name`);
    return part;
  }
  if (isProxy(part)) return { name: part.definition.name, start: part };
  return { name: isLast ? "the agent" : `component ${at + 1}`, start: part };
}

/** Whether it is an agent, or a chain, in this process. */
export function isAgent({ start }: ChainComponent): boolean {
  return typeof start === "object" && !isProxy(start);
}
