// Makes the sandbox of a session's commands from the rules.

import type { MovedFiles, SessionPolicy, SessionSandbox } from "@parley/sandbox";
import { enforcementOf, type RuleMount } from "../rules/enforcement.ts";
import { closesThisMachine, isForThisMachine, isThisMachine } from "../rules/host-pattern.ts";
import type { Rule } from "../rules/rule.ts";
import type { RuleSubject } from "../subjects/subject.ts";
import type { Effects } from "./effects.ts";
import type { GateOptions } from "./gate-options.ts";
import type { GateState } from "./gate-state.ts";

export interface GatedSandbox {
  /** Loaded with the first command: most sessions run none. */
  open(): Promise<SessionSandbox>;
  /** The gate has written a file, which is no command's doing. */
  accept(path: string, text: string): Promise<void>;
}

/** Hosts that a command wants to reach are decided about like everything else. */
export function commandSandbox(
  state: GateState,
  effects: Effects,
  options: GateOptions,
): GatedSandbox | undefined {
  const { authority } = effects;
  const { sandbox } = options;
  if (sandbox === undefined) return undefined;
  let opened: Promise<SessionSandbox> | undefined;
  let wasTold = false;
  const open = async (): Promise<SessionSandbox> => {
    const { sessionSandbox } = await import("@parley/sandbox");
    return sessionSandbox({
      profile: sandbox.profile,
      roots: state.roots,
      policy() {
        const rules = authority.rulesInForce(state);
        if (!wasTold && rules.some(isForThisMachine) && !isHostNetwork(rules)) {
          wasTold = true;
          sandbox.tell?.(
            "allow net localhost has no effect on commands: another rule denies or asks about hosts, and the network of this machine cannot be limited",
          );
        }
        return policyOfRules(rules, state.roots, options, authority.hasPerson(state));
      },
      async decideHost(host, signal) {
        const subjects: readonly RuleSubject[] = [{ origin: "op", operation: "net", host }];
        const { decision } = await authority.decide(state, subjects, { signal });
        effects.settle(state, decision);
        if (decision.effect !== "allow") return false;
        if (isThisMachine(host))
          sandbox.tell?.("commands that start from now on have the network of this machine");
        return !isThisMachine(host);
      },
      tell: (text) => sandbox.tell?.(text),
      onMoved: (moved, signal) => void askToKeep(moved, signal),
    });
  };
  /** One question about all that a command has created. Without an answer it stays where it was moved to. */
  const askToKeep = async ({ paths, notice, keep }: MovedFiles, signal: AbortSignal): Promise<void> => {
    const subjects = paths.map((path): RuleSubject => ({ origin: "op", operation: "write", path }));
    const why =
      "a command created this, and other programs would run or obey it, so it was moved out of the workspace; a yes moves all of it back";
    try {
      const { decision } = await authority.decide(state, subjects, { signal, why });
      effects.settle(state, decision);
      for (const text of decision.effect === "allow" ? keep() : [notice]) sandbox.tell?.(text);
    } catch {
      sandbox.tell?.(notice);
    }
  };
  return {
    open: () => (opened ??= open()),
    accept: async (path, text) => (await opened)?.accept(path, text),
  };
}

/** What rules let through and hold back in a sandbox. */
export function policyOfRules(
  rules: readonly Rule[],
  roots: readonly string[],
  { own = [], reviewer }: GateOptions,
  hasPerson: boolean,
): SessionPolicy {
  const mounts = enforcementOf(rules, roots).flatMap((each) => each.mounts);
  const paths = (access: RuleMount["access"]): string[] =>
    mounts.flatMap((mount) => (mount.access === access ? [mount.path] : []));
  const isAllowing = ({ effect, operation }: Rule): boolean =>
    effect === "allow" && (operation === "net" || operation === "*");
  const canAllowHosts = hasPerson || reviewer !== undefined || rules.some(isAllowing);
  return {
    write: paths("write"),
    hide: [...own, ...paths("none")],
    readOnly: paths("read"),
    network: isHostNetwork(rules) ? "host" : canAllowHosts ? "hosts" : "none",
  };
}

function isHostNetwork(rules: readonly Rule[]): boolean {
  return rules.some(isForThisMachine) && !rules.some(closesThisMachine);
}
