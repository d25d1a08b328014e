// Changes recorded messages at random: whole frames, and values inside of them.

import type { Random } from "../../../acp/test/support/random.ts";

/** A frame that is longer than twice the limit of a message ends a connection, and rightly so. */
export const maxFrameChars = 700_000;

const deep = (levels: number, open = "[", close = "]"): string => open.repeat(levels) + close.repeat(levels);

/** JSON texts that stand in the place of another value. */
const oddValues: readonly ((random: Random) => string)[] = [
  () => "null",
  () => "true",
  () => "[]",
  () => "{}",
  () => '""',
  () => "-0",
  () => "1e400",
  () => "1.5",
  () => "9007199254740993",
  () => "[[]]",
  (random) => deep(random.pick([100, 511, 513, 600, 5_000])),
  (random) => deep(random.pick([513, 600]), '{"a":', "}").replace(":}", ":1}"),
  (random) => JSON.stringify("x".repeat(random.pick([1_024, 1_025, 65_536, 70_000, 300_000]))),
  (random) => JSON.stringify("\0\u0001\u001b[2J\u007f\u2028".repeat(random.pick([1, 200, 20_000]))),
  () => '"\\ud800"',
  () => '"__proto__"',
  () => `[${"1,".repeat(100_001)}1]`,
  () => '{"__proto__":{"polluted":true},"constructor":1}',
  () => '"../../etc/passwd"',
];

const oddIds: readonly string[] = [
  "null",
  "1",
  '"1"',
  "-1",
  "1.5",
  "-0",
  "9007199254740993",
  "1e400",
  "{}",
  "[1]",
  "true",
  '""',
  '"\\ud800"',
  JSON.stringify("i".repeat(1_024)),
  JSON.stringify("i".repeat(1_025)),
  JSON.stringify("i".repeat(70_000)),
  JSON.stringify("\u0000\u0007"),
];

const oddMethods: readonly string[] = [
  '"initialize"',
  '"session/new"',
  '"session/load"',
  '"session/prompt"',
  '"session/cancel"',
  '"session/close"',
  '"session/list"',
  '"$/cancel_request"',
  '"_none"',
  '""',
  "5",
  JSON.stringify("m".repeat(70_000)),
];

type Members = Map<string, string>;

/** The root of a message as texts of its members; undefined for what is no object. */
function membersOf(frame: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(frame);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    return new Map(Object.entries(value).map(([key, each]) => [key, JSON.stringify(each)]));
  } catch {
    // already broken
    return undefined;
  }
}

function written(members: Members, random: Random): string {
  const entries = [...members];
  // the order of members is nobody's business
  if (random.chance(0.3)) entries.sort(() => random.next() - 0.5);
  return `{${entries.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
}

/** Puts another text in the place of one value anywhere in the JSON. */
function replaceValue(text: string, random: Random): string {
  const starts = [...text.matchAll(/"(?:[^"\\]|\\.)*"(?!\s*:)|-?\d[\d.eE+-]*|true|false|null/g)];
  if (starts.length === 0) return text;
  const { index, 0: found } = random.pick(starts);
  return text.slice(0, index) + random.pick(oddValues)(random) + text.slice(index + found.length);
}

const memberMutations: readonly ((members: Members, random: Random) => void)[] = [
  (members, random) => void members.set("id", random.pick(oddIds)),
  (members, random) => void members.set("id", random.pick(oddIds)),
  (members, random) => void members.set("method", random.pick(oddMethods)),
  (members, random) => void members.set("params", random.pick(oddValues)(random)),
  (members, random) => {
    const params = members.get("params");
    if (params !== undefined) members.set("params", replaceValue(params, random));
  },
  (members, random) => {
    const params = members.get("params");
    if (params?.startsWith("{"))
      members.set(
        "params",
        params.replace("{", `{"acme ${random.below(9)}":${random.pick(oddValues)(random)},`),
      );
  },
  (members, random) => void members.set(`key ${random.below(9)}`, random.pick(oddValues)(random)),
  (members, random) => void members.delete(random.pick([...members.keys()])),
  (members, random) => void members.set("jsonrpc", random.pick(['"1.0"', "2.0", "null"])),
  (members, random) => void members.set(random.pick(["result", "error"]), random.pick(oddValues)(random)),
  (members) => {
    // several limits at once
    members.set("method", JSON.stringify("m".repeat(70_000)));
    members.set("params", deep(600));
  },
];

/** Changes one message, often in several places. */
function mutateMessage(frame: string, random: Random): string {
  const members = membersOf(frame);
  if (members === undefined) return cut(frame, random);
  for (let i = 1 + random.below(3); i > 0; i--)
    if (members.size > 0) random.pick(memberMutations)(members, random);
  return written(members, random);
}

function cut(frame: string, random: Random): string {
  return frame.slice(0, random.below(frame.length + 1));
}

type FrameMutation = (frames: string[], random: Random) => void;

const at = (frames: readonly string[], random: Random): number => random.below(frames.length);

function change(frames: string[], random: Random, by: (frame: string) => string): void {
  const i = at(frames, random);
  frames[i] = by(frames[i] ?? "");
}

/** Makes one frame of several; an array in it becomes an array in an array. */
const batch: FrameMutation = (frames, random) => {
  const from = random.chance(0.4) ? 0 : at(frames, random);
  const taken = frames.splice(from, 1 + random.below(5));
  frames.splice(from, 0, `[${taken.join(random.chance(0.1) ? ",{}," : ",")}]`);
};

export const frameMutations: readonly FrameMutation[] = [
  (frames, random) => void frames.splice(at(frames, random), 1),
  (frames, random) => void frames.splice(at(frames, random), 0, frames[at(frames, random)] ?? ""),
  (frames, random) => void frames.push(...frames.splice(at(frames, random), 1)),
  (frames, random) => void frames.sort(() => (random.chance(0.2) ? 1 : 0)),
  batch,
  batch,
  (frames, random) =>
    void frames.splice(
      at(frames, random),
      0,
      random.pick(["[]", "[[]]", "{}", "5", "null", "", "[[[", '"x"']),
    ),
  (frames, random) => change(frames, random, (frame) => cut(frame, random)),
  (frames, random) => change(frames, random, (frame) => replaceValue(frame, random)),
  (frames, random) =>
    change(frames, random, (frame) => `${frame}${random.pick(["}", ",", " x", "\t", frame])}`),
  ...Array.from(
    { length: 6 },
    (): FrameMutation => (frames, random) => change(frames, random, (frame) => mutateMessage(frame, random)),
  ),
];

/** A part of a recording, changed in a few places. */
export function mutate(recorded: readonly string[], random: Random): string[] {
  const head = recorded.slice(0, 3);
  const from = random.below(recorded.length);
  const rest = recorded.slice(3).slice(from, from + 1 + random.below(12));
  const frames = [...head, ...rest];
  for (let i = 1 + random.below(5); i > 0; i--)
    if (frames.length > 0) random.pick(frameMutations)(frames, random);
  return frames.filter((frame) => frame.length <= maxFrameChars && !frame.includes("\n"));
}
