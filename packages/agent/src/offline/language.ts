// Reads a request in the offline model's language: commands joined with "then" or one per line, and scripted lines.

import { commands, type Done } from "./commands.ts";
import type { Action, Script } from "./script.ts";

export type OfflineStep =
  | {
      readonly type: "command";
      readonly words: string;
      readonly isReadOnly: boolean;
      perform(): Script<Done>;
    }
  /** A scripted line. */
  | { readonly type: "action"; readonly action: Action };

export type CommandStep = Extract<OfflineStep, { type: "command" }>;

/** What was not understood, if anything. */
export type Reading = { readonly steps: readonly OfflineStep[] } | { readonly unknown: string };

/** A piece of a request: what the user wrote, or a file that the client attached there. */
export type Piece = string | { readonly attached: string };

/**
 * Clients put an attached file in the place of its mention, or at the end of a text that has the mention. So the request is
 * read with the attached files, and where that makes no sense without them.
 */
export function read(pieces: readonly Piece[]): Reading {
  const texts = pieces.filter((piece) => typeof piece === "string");
  const whole = readPieces(pieces);
  return "steps" in whole || texts.length === pieces.length ? whole : readPieces(texts);
}

const joint = /(?<=\S),?\s+then\s+(?=(?:read|list|search|create|replace|delete|move|run|fetch)\b)/i;
const scripted = /^@(?<name>tool|say|think|wait)(?:\s+(?<rest>\S.*))?$/;

function readPieces(pieces: readonly Piece[]): Reading {
  const { masked, restore, value } = mask(pieces);
  const lines: string[] = [];
  for (const line of masked.split("\n").map((each) => each.trim())) {
    // a fence on its own line belongs to the line before it
    if (/^\uE000\d+\uE001$/.test(line) && lines.length > 0) lines.push(`${lines.pop()} ${line}`);
    else if (line !== "") lines.push(line);
  }
  const steps: OfflineStep[] = [];
  for (const line of lines.flatMap((each) => (scripted.test(each) ? [each] : each.split(joint)))) {
    const step = line.replace(/^then\s+/i, "");
    const words = restore(step).replace(/\n[\s\S]*$/, " …");
    const found = scriptedStep(step, value) ?? commandStep(step, words, value);
    if (found === undefined) return { unknown: words };
    steps.push(found);
  }
  return steps.length === 0 ? { unknown: "" } : { steps };
}

/** Matches fences, backticks and quotes; a quote inside a word is an apostrophe. */
const quoted =
  /(`{3,})(?!`)[^\n]*\n([\s\S]*?)\n?\1|`([^`\n]+)`|"([^"\n]*)"|“([^”\n]*)”|(?<!\w)'([^'\n]*)'(?!\w)/g;

/** Replaces quoted texts (U+E000) and attached files (U+E002) by marks; `value` takes the quotes off an argument. */
function mask(pieces: readonly Piece[]) {
  const kept: { readonly inner: string; readonly whole: string }[] = [];
  const keep = (inner: string, whole: string) => kept.push({ inner, whole }) - 1;
  const masked = pieces.map((piece) => {
    if (typeof piece !== "string") return ` \uE002${keep(piece.attached, piece.attached)}\uE001 `;
    return piece.replaceAll(quoted, (whole: string, ...groups: unknown[]) => {
      const inner = groups.slice(1, 6).find((group) => typeof group === "string");
      return `\uE000${keep(`${String(inner)}${whole.startsWith("```") ? "\n" : ""}`, whole)}\uE001`;
    });
  });
  const restore = (text: string) =>
    text.replaceAll(/[\uE000\uE002](\d+)\uE001/g, (_, at: string) => kept[Number(at)]?.whole ?? "");
  const value = (text: string) => {
    const [, at] = /^[\uE000\uE002](\d+)\uE001$/.exec(text) ?? [];
    return at === undefined ? restore(text) : (kept[Number(at)]?.inner ?? "");
  };
  return { masked: masked.join(""), restore, value };
}

type Value = (text: string) => string;

function commandStep(step: string, words: string, value: Value): OfflineStep | undefined {
  const found = commands.find(({ pattern }) => pattern.test(step));
  const { groups = {} } = found?.pattern.exec(step) ?? {};
  // a file that is merely attached is no part of a shell command
  if (found === undefined || groups["command"]?.includes("\uE002")) return undefined;
  const get = (name: string) => {
    const text = groups[name] ?? "";
    // clients mark the mention of a file with @
    return value(name === "path" || name === "to" ? text.replace(/^@(?=.)/, "") : text);
  };
  return { type: "command", words, isReadOnly: found.isReadOnly === true, perform: () => found.perform(get) };
}

function scriptedStep(step: string, value: Value): OfflineStep | undefined {
  const { name, rest = "" } = scripted.exec(step)?.groups ?? {};
  if (name === undefined || rest.includes("\uE002")) return undefined;
  const action = actionOf(name, rest, value);
  return action && { type: "action", action };
}

function actionOf(name: string, rest: string, value: Value): Action | undefined {
  if (name === "say") return { type: "text", text: value(rest) };
  if (name === "think") return { type: "thinking", text: value(rest) };
  if (name === "wait")
    return /^\d{1,4}(?:\.\d+)?$/.test(rest) ? { type: "wait", seconds: Number(rest) } : undefined;
  const [, tool, input = "{}"] = /^(\S+)(?:\s+(.+))?$/.exec(rest) ?? [];
  return tool === undefined ? undefined : { type: "call", name: tool, input: parsed(value(input)) };
}

/** Text that is no JSON is passed on as it is, as that of any model. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
