// What a turn used and changed, in words.

import type { PromptResult } from "@parley/acp";
import type { SessionView } from "@parley/acp/view";
import { costText } from "@parley/client/history";
import type { Paint } from "../terminal/paint.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { type Marks, unicodeMarks } from "./marks.ts";
import { clipped, count, counted, widthOf, wrappedWords } from "./text-lines.ts";
import { durationText } from "./tool-card.ts";

export interface TurnFacts {
  readonly result: Pick<PromptResult, "stopReason" | "error" | "usage">;
  readonly durationMs: number;
  /** The files that changed, if that is known. */
  readonly changed?: { readonly files: number; readonly added: number; readonly removed: number };
  /** What this turn cost, in the currency of the agent. */
  readonly cost?: { readonly amount: number; readonly currency: string };
}

/** Such as "3 files +92 -46 · 12.3 s · 8.2k tokens (91 % cached) · $0.04". All of an error is shown, in more lines if needed. */
export function turnSummaryLines(
  { result, durationMs, changed, cost }: TurnFacts,
  {
    width,
    paint,
    marks = unicodeMarks,
  }: { readonly width: number; readonly paint: Paint; readonly marks?: Marks },
): string[] {
  const reason = safeLine(String(result.stopReason).slice(0, 200)).replaceAll("_", " ");
  const why = result.error === undefined ? "" : `: ${safeLine(String(result.error.message).slice(0, 2_000))}`;
  const files = changed === undefined || changed.files <= 0 ? [] : [changeText(changed)];
  const parts = [
    ...files,
    durationText(durationMs),
    result.usage == null || result.usage.totalTokens === 0
      ? ""
      : `${shortCount(result.usage.totalTokens)} tokens${cachedText(result.usage)}`,
    cost === undefined ? "" : moneyText(cost),
  ].filter((part) => part !== "");
  const separator = ` ${marks.dot} `;
  const facts = parts.join(separator);
  if (result.stopReason === "end_turn") return shown(facts, width, marks).map((line) => paint("dim", line));
  const ended = `${reason}${why}`;
  const whole = facts === "" ? ended : `${ended}${separator}${facts}`;
  if (widthOf(whole) <= width)
    return [`${paint("warning", ended)}${paint("dim", whole.slice(ended.length))}`];
  return [
    ...wrappedWords(ended, width).map((line) => paint("warning", line)),
    ...shown(facts, width, marks).map((line) => paint("dim", line)),
  ];
}

function shown(facts: string, width: number, { more }: Marks): string[] {
  return facts === "" ? [] : [clipped(facts, width, more)];
}

export function changeText({ files, added, removed }: NonNullable<TurnFacts["changed"]>): string {
  return `${counted(files, "file")} +${count(added)} -${count(removed)}`;
}

/** The part of the input that came from the provider's cache. Some agents count it as part of `inputTokens`, and some do not. */
function cachedText({
  totalTokens,
  outputTokens,
  cachedReadTokens,
}: NonNullable<PromptResult["usage"]>): string {
  const share = (cachedReadTokens ?? 0) / (totalTokens - outputTokens);
  return share > 0 && share <= 1 ? ` (${Math.round(100 * share)} % cached)` : "";
}

/** 812, 8.2k, 1.3M. */
function shortCount(number: number): string {
  if (!Number.isFinite(number) || number < 0) return "0";
  if (number < 1000) return String(Math.round(number));
  if (number < 999_950) return `${(number / 1000).toFixed(1)}k`;
  return `${(number / 1_000_000).toFixed(1)}M`;
}

function moneyText({ amount, currency }: NonNullable<TurnFacts["cost"]>): string {
  if (!Number.isFinite(amount) || amount <= 0) return "";
  const text = costText({ amount, currency: safeLine(currency).slice(0, 10) });
  return text.endsWith(" USD") ? `$${text.slice(0, -4)}` : text;
}

export function usageText(
  used: PromptResult["usage"] | undefined,
  { usage, cost }: Pick<SessionView, "usage" | "cost">,
): string[] {
  return [
    ...(used == null ? [] : [`${grouped(used.totalTokens)} tokens${cachedText(used)}`]),
    ...(usage === undefined ? [] : [contextText(usage)]),
    ...(cost === undefined ? [] : [costText({ ...cost, currency: safeLine(cost.currency).slice(0, 10) })]),
  ];
}

function contextText({ used, size }: NonNullable<SessionView["usage"]>): string {
  // some agents report the total ever used, which is not a percentage
  if (size <= 0 || used > size) return `context ${grouped(used)}${size > 0 ? ` of ${grouped(size)}` : ""}`;
  return `context ${Math.round((100 * used) / size)} % of ${grouped(size)}`;
}

function grouped(number: number): string {
  return number.toLocaleString("en-US");
}
