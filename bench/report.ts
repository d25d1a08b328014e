// Prints results: a table for people, JSON for programs.

import type { Benchmark, Result } from "./benchmark.ts";
import type { Figure } from "./statistics.ts";

const columns = ["name", "ours", "sdk", "floor", "unit", "vs SDK", "vs floor", "target"] as const;
const widths = [15, 22, 22, 22, 15, 22, 20, 0];

const row = (cells: readonly string[]) =>
  cells
    .map((cell, i) => cell.padEnd(widths[i] ?? 0))
    .join(" ")
    .trimEnd();

export const tableHead = (): string => row(columns);

/** One benchmark: its line, then its notes and checks. */
export function tableRows({ name, target }: Benchmark, result: Result): string {
  const { ours, sdk, floor, unit, vsSdk, vsFloor } = result;
  const cells = [name, spread(ours), spread(sdk), spread(floor), unit, spread(vsSdk), spread(vsFloor)];
  const lines = [row([...cells, verdicts(target, result)])];
  for (const note of result.notes) lines.push(`    ${note}`);
  for (const { what, value, target: wanted, met } of result.checks ?? []) {
    lines.push(`    ${met ? "met   " : "MISSED"} ${what}: ${digits(value)}, target ${digits(wanted)}`);
  }
  return lines.join("\n");
}

function verdicts(target: Benchmark["target"], { vsSdk, vsFloor }: Result): string {
  const verdict = (what: string, value: number, wanted: number | undefined) =>
    wanted === undefined ? [] : [`${value >= wanted ? "met" : "MISSED"} ${what} ${digits(wanted)}`];
  return [
    ...verdict("floor", vsFloor.median, target.vsFloor),
    ...verdict("SDK", vsSdk.median, target.vsSdk),
  ].join(", ");
}

const spread = ({ median, low, high }: Figure) => `${digits(median)} (${digits(low)}..${digits(high)})`;

/** Three significant digits, without exponents. */
function digits(value: number): string {
  if (!Number.isFinite(value)) return "-";
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)));
  return value.toFixed(Math.min(decimals, 4));
}

/** One benchmark of the working tree beside that of an older commit. The ratio is above 1 where ours is better now. */
export interface ComparedResult {
  readonly name: string;
  readonly unit: string;
  readonly before: Figure;
  readonly now: Figure;
  readonly ratio: Figure;
  readonly vsFloor: { readonly before: Figure; readonly now: Figure };
}

const comparedWidths = [15, 22, 22, 15, 20, 20, 0];

const comparedRow = (cells: readonly string[]) =>
  cells
    .map((cell, i) => cell.padEnd(comparedWidths[i] ?? 0))
    .join(" ")
    .trimEnd();

export const comparedHead = (): string =>
  comparedRow(["name", "before", "now", "unit", "now over before", "of floor before", "of floor now"]);

export function comparedLine({ name, unit, before, now, ratio, vsFloor }: ComparedResult): string {
  return comparedRow([
    name,
    spread(before),
    spread(now),
    unit,
    spread(ratio),
    spread(vsFloor.before),
    spread(vsFloor.now),
  ]);
}

/** The object that `--json` prints for one benchmark. */
export function jsonOf(result: Result, rounds: number): object {
  const { ours, sdk, floor, unit, vsSdk, vsFloor, direction, notes, checks } = result;
  const middle = ({ low, high }: Figure) => [round(low), round(high)];
  return {
    ours: round(ours.median),
    sdk: round(sdk.median),
    floor: round(floor.median),
    unit,
    better: direction,
    vsSdk: round(vsSdk.median),
    vsFloor: round(vsFloor.median),
    rounds,
    spread: {
      ours: middle(ours),
      sdk: middle(sdk),
      floor: middle(floor),
      vsSdk: middle(vsSdk),
      vsFloor: middle(vsFloor),
    },
    checks: checks ?? [],
    notes,
  };
}

const round = (value: number) => Number(value.toPrecision(5));
