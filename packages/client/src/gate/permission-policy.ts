// The permission policy: rules, remembered answers, an audit log and a person to ask.

import { isAbsolute, join } from "node:path";
import { argumentText } from "@parley/acp/internal";
import { checkOptions, isObject, optional } from "@parley/acp/jsonrpc";
import type { CommandProfile } from "@parley/sandbox";
import { auditLog } from "../audit/audit-log.ts";
import { parsePolicy } from "../rules/policy-text.ts";
import { rememberedRules } from "../rules/remembered.ts";
import { type Gate, permissionGate } from "./gate.ts";
import type { PermissionAsker, UnsavedTexts } from "./gate-options.ts";
import type { PermissionQuestion, PermissionReply } from "./permission-question.ts";

/** The rules, the state and the user of a permission policy. */
export interface PermissionPolicyOptions {
  /** Lines such as "allow read src", "ask exec git push" and "deny write .env". Default: everything is asked. */
  readonly rules?: string | readonly string[] | undefined;
  /**
   * The absolute path of the folder for remembered answers and the audit log. Default: answers last as long as their
   * session, and there is no log.
   */
  readonly stateFolder?: string | undefined;
  /**
   * Asks the user. Return the `id` of a choice, with the user's own words if there are any, or undefined for no decision,
   * which denies. Default: `requestPermission` of the client is asked.
   */
  readonly ask?: ((question: PermissionQuestion) => Promise<PermissionReply> | PermissionReply) | undefined;
  /**
   * The audit log in `stateFolder`: false for none, or its limits (default 90 days, 256 MiB) and secrets to keep out of
   * it. Default: true if there is a `stateFolder`.
   */
  readonly audit?:
    | boolean
    | {
        readonly secrets?: Iterable<string>;
        readonly keepMs?: number;
        readonly keepBytes?: number;
      }
    | undefined;
  /** Absolute paths of directories that agents may use in addition to those of the session. */
  readonly extraRoots?: readonly string[] | undefined;
  /** The unsaved text of an editor, which agents read and write instead of the files on disk. */
  readonly overlay?: UnsavedTexts | undefined;
  /** The environment of commands. Default: that of this process, without Parley's own variables. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * The sandbox that commands run in. Commands in it are allowed unless a rule says otherwise. Where no
   * sandbox can start, they are asked about. Default "workspace".
   */
  readonly sandbox?: CommandProfile | undefined;
  /** Told in a line what the user should know: that no sandbox can start, or what a command left behind. */
  readonly onNotice?: ((text: string) => void) | undefined;
  /** How long a question may stay open, in milliseconds; then it is denied. Default 10 minutes. */
  readonly answerMs?: number | undefined;
}

/** A policy for `client()` and `connectAgent()` that decides by rules and by asking the user. */
export interface PermissionPolicy extends Gate {
  /** Closes the audit log in `stateFolder`. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const profiles: Readonly<Record<CommandProfile, true>> = {
  workspace: true,
  "read-only": true,
  strict: true,
  off: true,
};

const optionKeys: Readonly<Record<keyof PermissionPolicyOptions, true>> = {
  rules: true,
  stateFolder: true,
  ask: true,
  audit: true,
  answerMs: true,
  extraRoots: true,
  overlay: true,
  env: true,
  sandbox: true,
  onNotice: true,
};

/**
 * Creates a policy that decides by rules, asks the user about the rest, and remembers the answers.
 *
 * @throws {TypeError} When an option is unknown or wrong.
 * @throws {RuleError} When a rule cannot be understood.
 *
 * @example
 * import { connectAgent } from "@parley/client";
 * import { permissionPolicy } from "@parley/client/policy";
 *
 * await using policy = permissionPolicy({
 *   rules: ["allow read src", "allow exec npm test", "deny write .env"],
 *   ask({ summary, choices }) {
 *     console.log(summary);
 *     return choices.find(({ effect, scope }) => effect === "allow" && scope === "once")?.id;
 *   },
 * });
 * await using agent = await connectAgent("gemini", { name: "my-app", version: "1.0.0", policy });
 */
export function permissionPolicy(options: PermissionPolicyOptions = {}): PermissionPolicy {
  checkGiven(options);
  const {
    stateFolder,
    extraRoots,
    overlay,
    env,
    answerMs,
    sandbox: profile = "workspace",
    onNotice,
  } = options;
  const { audit: wanted = stateFolder !== undefined } = options;
  const audit =
    wanted === false || stateFolder === undefined
      ? undefined
      : auditLog(join(stateFolder, "audit"), wanted === true ? {} : wanted);
  const asker: PermissionAsker | undefined = options.ask && {
    permission: (question) => options.ask?.(question),
  };
  const gate = permissionGate({
    rules: parsePolicy([options.rules ?? []].flat().join("\n"), "user", "rules").rules,
    ...(stateFolder === undefined
      ? {}
      : { remembered: rememberedRules(join(stateFolder, "permissions.ndjson")), own: [stateFolder] }),
    ...(profile === "off" ? {} : { sandbox: { profile, ...optional({ tell: onNotice }) } }),
    ...optional({ audit, asker, extraRoots, overlay, env, answerMs }),
  });
  const close = async (): Promise<void> => audit?.close();
  return Object.assign(gate, { close, [Symbol.asyncDispose]: close });
}

function checkGiven(options: PermissionPolicyOptions): void {
  const given: unknown = options; // callers may have no types
  if (!isObject(given))
    throw new TypeError(`permissionPolicy: expected an object of options, got ${argumentText(given)}`);
  checkOptions("permissionPolicy", options, optionKeys);
  const { stateFolder, extraRoots = [], rules = [], ask, audit, sandbox } = options;
  const paths = [
    ...(stateFolder === undefined ? [] : [["stateFolder", stateFolder] as const]),
    ...extraRoots.map((root) => ["extraRoots", root] as const),
  ];
  for (const [name, path] of paths) {
    if (typeof path !== "string" || !isAbsolute(path))
      throw new TypeError(`permissionPolicy: ${name} must be absolute, got ${argumentText(path)}`);
  }
  const wrong: unknown = [rules].flat().find((line: unknown) => typeof line !== "string");
  if (wrong !== undefined)
    throw new TypeError(
      `permissionPolicy: rules must be text or a list of lines, got ${argumentText(wrong)}`,
    );
  if (audit !== undefined && audit !== false && stateFolder === undefined)
    throw new TypeError("permissionPolicy: audit needs a stateFolder, the folder of the log; got none");
  if (sandbox !== undefined && !Object.hasOwn(profiles, sandbox))
    throw new TypeError(
      `permissionPolicy: sandbox must be one of ${Object.keys(profiles).join(", ")}; got ${argumentText(sandbox)}`,
    );
  if (ask !== undefined && typeof ask !== "function")
    throw new TypeError(`permissionPolicy: ask must be a function, got ${argumentText(ask)}`);
}
