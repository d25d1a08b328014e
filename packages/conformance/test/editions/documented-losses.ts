// What each dialect cannot say, as docs/editions.md lists it, and how a record looks without it.

import type { ClientRecord } from "@parley/conformance/testing";
import { comparable } from "../../src/testing/client-record.ts";

type Fields = { readonly [key: string]: unknown };

/** What a person sees of a session. */
interface View extends Fields {
  readonly timeline: readonly Fields[];
  readonly configOptions: readonly Fields[];
}

/** What a person sees of everything. */
export interface Shown {
  readonly steps: readonly Fields[];
  readonly asked: readonly Fields[];
  readonly sessions: Readonly<Record<string, View>>;
}

interface Loss {
  /** The row of the table in docs/editions.md. */
  readonly row: string;
  readonly without: (shown: Shown) => Shown;
}

/** What is shown, without the losses of these editions; `but` is left in. */
export function shownWithout(record: ClientRecord, editions: readonly string[], but?: Loss): Shown {
  const { steps, asked, sessions } = withoutDetails(comparable(record)) as Shown; // its parts
  const losses = [...new Set(editions)].flatMap((edition) => lossesOf[edition as "pharo"] ?? []);
  const shown: Shown = { steps: steps.map(outcome), asked, sessions };
  return renumbered(
    losses.filter((loss) => loss !== but).reduce<Shown>((rest, { without }) => without(rest), shown),
  );
}

/** The number of an error counts; its words may be those of a relay. */
function outcome(step: Fields): Fields {
  return "error" in step ? { ...step, error: (step["error"] as Fields)["code"] } : step;
}

/** Without what was lost, the others have other numbers. */
function renumbered(shown: Shown): Shown {
  const numbers = new Map<string, string>();
  const text = JSON.stringify(shown).replaceAll(/"tool-\d+"/g, (id) => {
    const known = numbers.get(id) ?? `"tool ${numbers.size + 1}"`;
    numbers.set(id, known);
    return known;
  });
  return JSON.parse(text);
}

/** Data that dialects add is under keys of ours. */
function withoutDetails(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDetails);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).flatMap(([key, item]) => {
    if (key.startsWith("_parley.dev/")) return [];
    const inner = withoutDetails(item);
    return key === "_meta" && Object.keys(inner as object).length === 0 ? [] : [[key, inner]];
  });
  return Object.fromEntries(kept);
}

const inViews =
  (change: (view: View) => object) =>
  (shown: Shown): Shown => ({
    ...shown,
    sessions: Object.fromEntries(
      Object.entries(shown.sessions).map(([name, view]) => [name, { ...view, ...change(view) }]),
    ),
  });

const inItems = (change: (item: Fields) => readonly Fields[]) =>
  inViews(({ timeline }) => ({ timeline: timeline.flatMap(change) }));

const main = ({ sessions: { main: first } }: Shown): object => (first === undefined ? {} : { main: first });

const withoutFields = (item: Fields, ...names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)));

const isMessage = ({ kind }: Fields): boolean => kind === "agent_message" || kind === "agent_thought";
const isText = (block: unknown): block is { text: string } => (block as { type: string }).type === "text";

const ids: Loss = {
  row: "the ids of messages",
  // pieces of one message may become messages
  without: inViews(({ timeline }) => {
    const merged: Fields[] = [];
    for (const { messageId: _, _meta: __, ...item } of timeline) {
      const last = merged.at(-1);
      if (!isMessage(item) || last?.["kind"] !== item["kind"]) merged.push(item);
      else
        merged[merged.length - 1] = { ...item, ...last, content: [...blocks(last ?? {}), ...blocks(item)] };
    }
    return {
      timeline: merged.map((item) => (isMessage(item) ? { ...item, content: joined(blocks(item)) } : item)),
    };
  }),
};

const blocks = (item: Fields): readonly unknown[] => (item["content"] ?? []) as readonly unknown[]; // of a message

function joined(content: readonly unknown[]): readonly unknown[] {
  const texts = content.filter(isText).map(({ text }) => text);
  return [texts.join(""), ...content.filter((block) => !isText(block))];
}

const updates: Loss = {
  row: "usage, session titles and other updates that the dialect does not name",
  without: (shown) =>
    inViews((view) => ({
      usage: undefined,
      cost: undefined,
      title: undefined,
      timeline: view.timeline.filter(({ kind }) => kind !== "notice" && kind !== "compaction"),
    }))(shown),
};

const stops: Loss = {
  row: "the stop reason `max_turn_requests`",
  without: (shown) => JSON.parse(JSON.stringify(shown).replaceAll("max_turn_requests", "max_tokens")),
};

const options: Loss = {
  row: "options of a session",
  without: inViews(({ configOptions, mode }) => ({
    configOptions: configOptions
      .filter(({ category }) => category !== "mode")
      .map(({ configId, currentValue }) => ({ configId, currentValue })),
    mode: (mode as Fields | undefined)?.["value"],
  })),
};

const withoutUsage = (item: Fields): Fields =>
  item["result"] === undefined ? item : { ...item, result: withoutFields(item["result"] as Fields, "usage") };

const usage: Loss = {
  row: "the usage of a turn",
  without: (shown) => ({
    ...inItems((item) => [withoutUsage(item)])(shown),
    steps: shown.steps.map(withoutUsage),
  }),
};

/** An operation and a resource are kept as they are; other questions are asked as one. */
function question(ask: Fields, title: "title" | "permission"): Fields {
  // the file of a diff is the resource
  const asked = String(ask[title]).replace("file_write: /project/a.txt", "Edit a.txt");
  if (asked.startsWith("file_write: /project/")) return ask;
  const answer = /^(?:allow|go$|once$|session$)/.test(optionOf(ask["answer"])) ? "allowed" : "refused";
  return { [title]: asked.replace(/^\w+: /, ""), answer };
}

const optionOf = (answer: unknown): string =>
  typeof answer === "string" ? answer : String((answer as Fields | undefined)?.["optionId"]);

const content: Loss = {
  row: "a tool call: content",
  without: inItems((item) => {
    if (item["kind"] !== "tool_call") return [item];
    const parts = item["content"] as readonly { type: string; content: { text: string } }[];
    const whole = parts.find(({ type }) => type !== "content");
    // an agent's own terminal begins as an empty text
    const texts = parts.flatMap(({ content }) => content?.text || []).join("\n");
    return [{ ...item, content: parts.length === 0 ? undefined : (whole ?? texts) }];
  }),
};

const placeholders = /\[(?:image|audio|resource_link|resource): [^\]]*\]/g;

export const lossesOf: Readonly<Record<"pharo" | "scoped", readonly Loss[]>> = {
  pharo: [
    { row: "a thought", without: inItems((item) => (item["kind"] === "agent_thought" ? [] : [item])) },
    ids,
    {
      row: "a tool call: name, raw input and raw output",
      without: inItems((item) => [withoutFields(item, "name", "rawInput", "rawOutput")]),
    },
    updates,
    usage,
    stops,
    options,
    {
      row: "options of a session",
      // they are known when they are set, which is done in the first session
      without: (shown) => {
        const areSet = shown.steps.some(({ step }) => step === "setConfigOption");
        const others = inViews(() => ({ configOptions: [] }))(shown);
        return areSet ? { ...others, sessions: { ...others.sessions, ...main(shown) } } : others;
      },
    },
    {
      row: "a new file in a diff",
      without: (shown) => JSON.parse(JSON.stringify(shown).replaceAll('"add"', '"modify"')),
    },
  ],
  scoped: [
    {
      row: "an image, audio or a resource in a message",
      without: inItems((item) => {
        if (!isMessage(item)) return [item];
        const texts = blocks(item).filter(isText);
        return [
          { ...item, content: texts.map((each) => ({ ...each, text: each.text.replace(placeholders, "") })) },
        ];
      }),
    },
    ids,
    content,
    {
      row: "a tool call: name, raw input and raw output",
      without: inItems((item) => {
        const { rawOutput: _, name, rawInput, ...rest } = item;
        const hasInput = rawInput !== undefined && JSON.stringify(rawInput) !== "{}";
        return [
          { ...rest, ...(name === item["toolKind"] ? {} : { name }), ...(hasInput ? { rawInput } : {}) },
        ];
      }),
    },
    updates,
    {
      row: "a question about a tool call",
      without: (shown) => ({
        ...inViews(({ timeline }) => {
          const items = timeline.map((item) =>
            item["kind"] === "permission" ? { kind: "permission", ...question(item, "title") } : item,
          );
          // version 1 asks about a call, which stands for a question about nothing else
          const isOnlyAsked = (item: Fields, at: number) =>
            item["toolKind"] === "other" &&
            item["title"] !== undefined &&
            items[at + 1]?.["title"] === item["title"];
          return { timeline: items.filter((item, at) => !isOnlyAsked(item, at)) };
        })(shown),
        asked: shown.asked.map((ask) => question(ask, "permission")),
      }),
    },
    options,
  ],
};

/** What is logged as lost, by the row of docs/editions.md that has it; "" where the page of the bridge has it. */
export const logged: readonly (readonly [pattern: RegExp, row: string])[] = [
  [/^a thought/, "a thought"],
  [/^content of type \w+ in a message$/, "an image, audio or a resource in a message"],
  [/^all content of a tool call but one$/, "a tool call: content"],
  [/^the (name|rawInput|rawOutput) of a tool call$/, "a tool call: name, raw input and raw output"],
  [/^the raw output of a tool call beside/, "a tool call: name, raw input and raw output"],
  [/^(an update of type|the update) \w+/, updates.row],
  [/^session\/update was dropped/, updates.row],
  [/^the usage of a turn$/, usage.row],
  [/^the stop reason max_turn_requests/, stops.row],
  [/^the options of a session/, options.row],
  [/^the signal of terminal\/kill$/, "a signal for `terminal/kill`"],
  [/^the working directory of/, "the working directory of a session that is loaded"],
  [/^the title of a program/, "the title of an agent or a client"],
  [/^capabilities of the (agent|client)/, "capabilities that the dialect has no words for"],
  [/^the metadata of the answer to/, "custom data of an answer that is `null` in the dialect"],
  [/^the credentials of a login/, "credentials of a login"],
  [/vendor\/notify/, "methods that the dialect does not name, unless they begin with `_`"],
  [/^all but the changed lines|^the status cancelled|^work in the background/, ""],
  [/^a compaction of the conversation|^the notice /, ""],
];
