// Section "Envelope" of the bad inputs in docs/rules.md, first part: ids, answers and methods, N030 to N070.

import {
  type BadInput,
  bothVersions,
  canary,
  echo,
  echoed,
  echoedWith,
  error,
  notAMessage,
  notification,
  type Outcome,
  refusedWith,
  request,
  requestOf,
  result,
  row,
} from "./bad-input.ts";

const versions = bothVersions;

const noise = { counts: { noise: 1 } };

/** JSON that is no message: an agent says so, a client passes over what is not even an object. */
const values: readonly BadInput[] = [
  ...(["42", `"${canary}"`, "null", "true"] as const).map((text, i) =>
    row(`N03${i}`, `the JSON value ${text}`, [text], {
      ...refusedWith(notAMessage()),
      asClient: noise,
      versions,
    }),
  ),
  ...(
    [
      ["N034", "an empty object", "{}", "/jsonrpc"],
      ["N034", "an object of something else", `{"level":"info","msg":"${canary}"}`, "/jsonrpc"],
      ["N034", "jsonrpc alone", '{"jsonrpc":"2.0"}', "/method"],
      ["N034", "an id and params without a method", '{"jsonrpc":"2.0","id":34,"params":{}}', "/method"],
      ["N035", "a request without jsonrpc", echo("35").replace('"jsonrpc":"2.0",', ""), "/jsonrpc"],
      ["N036", "jsonrpc is 1.0", echo("36").replace("2.0", "1.0"), "/jsonrpc"],
      ["N037", "jsonrpc is the number 2.0", echo("37").replace('"2.0"', "2.0"), "/jsonrpc"],
      ["N038", "method is 5", echo("38").replace('"_test/echo"', "5"), "/method"],
      ["N038", "method is null", echo("38").replace('"_test/echo"', "null"), "/method"],
      ["N038", "method is an array", echo("38").replace('"_test/echo"', '["_test/echo"]'), "/method"],
      ["N039", "id is an object", echo("{}"), "/id"],
      ["N040", "id is an array", echo("[]"), "/id"],
      ["N040", "id is an array of a number", echo("[1]"), "/id"],
      ["N041", "id is true", echo("true"), "/id"],
      ["N041", "id is false", echo("false"), "/id"],
      ["N042", "id is 1e400", echo("1e400"), "/id"],
      ["N042", "id is -1e400", echo("-1e400"), "/id"],
      ["N048", "an id of 1,025 characters", echo(`"${"i".repeat(1_025)}"`), "/id"],
      ["N060", "a request with a result", echo("60").replace("}}", '},"result":1}'), "/method"],
      ["N060", "a request with the result null", echo("60").replace("}}", '},"result":null}'), "/method"],
      ["N060", "a request with an error", echo("60").replace("}}", '},"error":{"code":1}}'), "/method"],
    ] as const
  ).map(([id, name, text, path]) => row(id, name, [text], { ...refusedWith(notAMessage(path)), versions })),
];

/** Ids that come back as they went in; `#` stands before digits that a number cannot hold. */
const ids: readonly BadInput[] = [
  ...(
    [
      ["N045", "9007199254740993", "#9007199254740993"],
      ["N045", "-9007199254740993", "#-9007199254740993"],
      ["N045", "123456789012345678901234567890", "#123456789012345678901234567890"],
      ["N046", "-0", "#-0"],
      ["N047", '""', ""],
      ["N048", `"${"i".repeat(1_024)}"`, "i".repeat(1_024)],
      ["N049", '1,"id":2', 2],
      ["N049", '9007199254740993,"id":9007199254740995', "#9007199254740995"],
      ["N039", '"__proto__"', "__proto__"],
    ] as const
  ).map(([id, text, back]) =>
    row(id, `id ${text.slice(0, 40)} is echoed`, [echo(text)], { ...echoedWith(echoed(back)), versions }),
  ),
  ...(
    [
      ["N043", "1.5", 1.5],
      ["N044", "null", null],
    ] as const
  ).flatMap(([id, text, back]): BadInput[] => [
    row(id, `id ${text} is run and echoed by version 1`, [echo(text)], { ...echoedWith(echoed(back)) }),
    row(id, `id ${text} is refused by version 2`, [echo(text)], {
      ...refusedWith(notAMessage("/id")),
      versions: [2],
    }),
  ]),
  row(
    "N045",
    "an id beyond 2^53 can be cancelled, and its neighbour is not",
    [
      request("9007199254740993", "_test/hold"),
      request("9007199254740992", "_test/hold"),
      '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":9007199254740993}}',
      notification("_test/release", { keys: ["#9007199254740992", "#9007199254740993"] }),
    ],
    {
      later: [{ id: "#9007199254740993", error: { code: -32800 } }, result(9007199254740992, "released")],
      calls: { "_test/hold": 2, "_test/release": 1 },
      versions,
    },
  ),
  row(
    "N045",
    "a cancel notification that carries an id beyond 2^53 is answered under that id",
    [requestOf("9007199254740993", "$/cancel_request", '{"requestId":1}')],
    { replies: [error("#9007199254740993", -32601)], versions },
  ),
  row(
    "N050",
    "params with the same key twice: the last one counts",
    [requestOf("50", "_test/echo", '{"sessionId":"a","path":"/a","sessionId":"b","path":"/b"}')],
    { ...echoedWith(result(50, { sessionId: "b", path: "/b" })), versions },
  ),
  row(
    "N050",
    "a path that is given twice: the one that is checked is the one that is read",
    [requestOf("50", "fs/read_text_file", '{"sessionId":"s","path":"/a","path":"/b"}')],
    { replies: [result(50, { content: "/b" })], calls: { "fs/read_text_file": 1 }, roles: ["client"] },
  ),
  row(
    "N051",
    "an id that is still in use",
    [
      request("51", "_test/hold"),
      echo("51"),
      request("51", "_test/hold"),
      notification("_test/release", { keys: ["#51"] }),
    ],
    {
      replies: [notAMessage("/id", "duplicate_id"), notAMessage("/id", "duplicate_id")],
      later: [result(51, "released")],
      calls: { "_test/hold": 1, "_test/release": 1 },
      counts: { refused: 2 },
      versions,
    },
  ),
  row("N051", "an id may be used again once it has been answered", [echo("51"), echo("51")], {
    replies: [echoed(51), echoed(51)],
    calls: { "_test/echo": 2 },
    versions,
  }),
  row(
    "N052",
    'the ids 1 and "1" at the same time',
    [
      request("1", "_test/hold"),
      request('"1"', "_test/hold"),
      '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}',
      notification("_test/release", { keys: ["1"] }),
    ],
    {
      later: [{ id: 1, error: { code: -32800 } }, result("1", "released")],
      calls: { "_test/hold": 2, "_test/release": 1 },
      versions,
    },
  ),
];

const stray = { counts: { strayAnswers: 1 } };
const rejected: Outcome = { later: [result("ask0", { kind: "protocol" })], counts: { refused: 1 } };

function answer(id: string | undefined, rest: string): string {
  return `{"jsonrpc":"2.0","id":${id}${rest === "" ? "" : `,${rest}`}}`;
}

/** Answers never get an answer. */
const answers: readonly BadInput[] = [
  row(
    "N053",
    "an answer with an unknown id",
    [answer('"nobody"', `"result":"${canary}"`), answer("4711", '"error":{"code":1,"message":"x"}')],
    { counts: { strayAnswers: 2 }, versions },
  ),
  ...(['"__proto__"', '"constructor"', "{}", "[1]", "true", "1.5"] as const).map((id) =>
    row("N053", `an answer with the id ${id}`, [answer(id, '"result":1')], { ...stray }),
  ),
  row(
    "N054",
    "an answer for the second time",
    ([open]) => [answer(open, '"result":"first"'), answer(open, '"result":"second"')],
    { asks: 1, later: [result("ask0", { result: "first" })], ...stray, versions },
  ),
  row(
    "N054",
    "an error after the result",
    ([open]) => [answer(open, '"result":"first"'), answer(open, '"error":{"code":1,"message":"x"}')],
    { asks: 1, later: [result("ask0", { result: "first" })], ...stray },
  ),
  ...(
    [
      ["N055", "both a result and an error", '"result":1,"error":{"code":1,"message":"x"}'],
      ["N055", "a result and the error null", '"result":1,"error":null'],
      ["N056", "neither a result nor an error", ""],
      ["N058", "an error without a code", `"error":{"message":"${canary}"}`],
      ["N058", "an error whose code is a string", '"error":{"code":"-32000","message":"x"}'],
      ["N058", "an error whose code is 1.5", '"error":{"code":1.5,"message":"x"}'],
      ["N058", "an error that is a string", `"error":"${canary}"`],
      ["N058", "an error that is null", '"error":null'],
    ] as const
  ).map(([id, name, rest]) =>
    row(id, `an answer with ${name}`, ([open]) => [answer(open, rest)], { asks: 1, ...rejected, versions }),
  ),
  row(
    "N057",
    "an answer whose id is the right number as a string",
    ([open]) => [answer(`"${open}"`, '"result":"right"'), answer(open, '"result":"second"')],
    { asks: 1, later: [result("ask0", { result: "right" })], ...stray, versions },
  ),
  {
    ids: ["N059"],
    name: "an answer after the deadline",
    asks: 1,
    askTimeoutMs: 1,
    send: ([open]) => [answer(open, '"result":"late"')],
    // the id of the question differs from case to case, so the harness leaves it out
    replies: [{ method: "$/cancel_request", params: {} }],
    later: [result("ask0", { kind: "timeout" })],
    ...stray,
  },
  row(
    "N061",
    "an error with the id null",
    [answer("null", `"error":{"code":-32700,"message":"${canary}"}`)],
    { ...stray, versions },
  ),
  row("N061", "an error without an id", ['{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}'], {
    ...stray,
  }),
];

const unknownMethods = [
  ["N062", "__proto__"],
  ["N063", "constructor"],
  ["N064", "toString"],
  ["N064", "hasOwnProperty"],
  ["N065", "rpc.foo"],
  ["N066", "nope"],
  ["N066", ""],
  ["N067", "_vendor/x"],
] as const;

const methods: readonly BadInput[] = [
  ...unknownMethods.map(([id, method]) =>
    row(
      id,
      `a request with the method ${JSON.stringify(method)}`,
      [request("62", method, { text: canary })],
      { replies: [error(62, -32601, { reason: "method_not_found", method })], versions },
    ),
  ),
  row("N066", "a request with a method of 100,000 characters", [request("66", "n".repeat(100_000))], {
    replies: [error(66, -32601, { reason: "method_not_found", method: `${"n".repeat(200)}…` })],
  }),
  ...(
    [
      ["N068", "nope"],
      ["N068", "__proto__"],
      ["N068", "_test/echo"],
      ["N068", "session/prompt"],
      ["N069", "_vendor/x"],
      ["N070", "$/nope"],
      ["N070", "$/cancel_request"],
    ] as const
  ).map(([id, method]) =>
    row(
      id,
      `a notification ${method} gets no answer`,
      [notification(method, { text: canary }), notification(method)],
      { versions },
    ),
  ),
  row("N068", "a notification with bad params gets no answer", () =>
    ["session/cancel", "session/update"].flatMap((method) => [
      notification(method),
      notification(method, canary),
      notification(method, { sessionId: 5, update: canary }),
      notification(method, { sessionId: [canary], update: { sessionUpdate: "tool_call" } }),
    ]),
  ),
  row(
    "N068",
    "a notification whose path is not absolute gets no answer and is not logged",
    [
      notification("session/update", {
        sessionId: "s",
        update: {
          sessionUpdate: "tool_call_update",
          toolCallId: "t",
          content: [{ type: "diff", path: `${canary}/x`, newText: "" }],
        },
      }),
    ],
    { roles: ["client"], calls: { "session/update": 1 } },
  ),
];

export const envelopeCases: readonly BadInput[] = [...values, ...ids, ...answers, ...methods];
