// Section "Envelope" of the bad inputs in docs/rules.md, third part: batches, N084 to N091.

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
  refusedWith,
  request,
  requestOf,
  result,
  row,
} from "./bad-input.ts";

const versions = bothVersions;

function initialize(version: 1 | 2): string {
  const info = { name: "hostile", version: "1" };
  const params = version === 1 ? { protocolVersion: 1 } : { protocolVersion: 2, info };
  return request("90", "initialize", params);
}

/** To a client, an array without an object in it is something that was printed. */
const noise = { counts: { noise: 1 } };
const note = notification("_test/note", { text: canary });
const many = (count: number) => Array.from({ length: count }, () => "");

export const batchCases: readonly BadInput[] = [
  row("N084", "an empty array", ["[]"], { ...refusedWith(notAMessage()), asClient: noise, versions }),
  row("N085", "an array of two numbers", ["[1,2]"], {
    replies: [[notAMessage(), notAMessage()]],
    counts: { refused: 2 },
    asClient: noise,
    versions,
  }),
  row("N085", "arrays in an array", ["[[],[[]]]"], {
    replies: [[notAMessage(), notAMessage()]],
    counts: { refused: 2 },
  }),
  row("N086", "an array of one request", [`[${echo("86")}]`], { ...echoedWith([echoed(86)]), versions }),
  row(
    ["N086", "N045"],
    "an array of requests with ids beyond 2^53, and such numbers in their params",
    [
      `[${requestOf("9007199254740993", "_test/echo", '{"requestId":9007199254740993}')},${echo("9007199254740995")}]`,
    ],
    {
      replies: [[result("#9007199254740993", { requestId: 9007199254740992 }), echoed("#9007199254740995")]],
      calls: { "_test/echo": 2 },
      versions,
    },
  ),
  row(
    ["N086", "N045"],
    "an array that cancels a request with an id beyond 2^53",
    [
      request("9007199254740993", "_test/hold"),
      `[{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":9007199254740993}}]`,
    ],
    { later: [{ id: "#9007199254740993", error: { code: -32800 } }], calls: { "_test/hold": 1 } },
  ),
  row(
    ["N086", "N051"],
    "an array with the same id twice, the first still running",
    [
      `[${request('"twice"', "_test/hold")},${echo('"twice"')}]`,
      notification("_test/release", { keys: ["twice"] }),
    ],
    {
      later: [[notAMessage("/id", "duplicate_id"), result("twice", "released")]],
      calls: { "_test/hold": 1, "_test/release": 1 },
      counts: { refused: 1 },
    },
  ),
  row("N087", "an array of one notification", [`[${note}]`], { calls: { "_test/note": 1 }, versions }),
  {
    ids: ["N088"],
    name: "an array of a request, a notification and an empty object",
    send: () => [`[${echo("88")},${note},{}]`],
    // B5: in any order; what is refused needs no handler, but comes in its turn
    replies: [[echoed(88), notAMessage("/jsonrpc")]],
    calls: { "_test/echo": 1, "_test/note": 1 },
    counts: { refused: 1 },
    versions,
  },
  row(
    "N089",
    "an array of two answers",
    ([first, second]) => [
      `[{"jsonrpc":"2.0","id":${second},"result":"two"},{"jsonrpc":"2.0","id":${first},"result":"one"}]`,
    ],
    { asks: 2, later: [result("ask0", { result: "one" }), result("ask1", { result: "two" })], versions },
  ),
  row(
    "N089",
    "an array of two answers that nobody waits for",
    ['[{"jsonrpc":"2.0","id":8888,"result":1},{"jsonrpc":"2.0","id":null,"error":{"code":1}}]'],
    { counts: { strayAnswers: 2 } },
  ),
  ...([1, 2] as const).map((version) =>
    row("N090", "initialize alone in an array", [`[${initialize(version)}]`], {
      replies: [
        [
          result(90, {
            protocolVersion: version,
            ...(version === 2 ? { info: { name: "subject", version: "1" } } : {}),
          }),
        ],
      ],
      calls: { initialize: 1 },
      asClient: { replies: [[error(90, -32601, { reason: "method_not_found", method: "initialize" })]] },
      versions: [version],
    }),
  ),
  row(
    "N091",
    "an array of 10,001 requests",
    () => [
      `[${many(10_001)
        .map((_, i) => echo(String(i)))
        .join()}]`,
    ],
    { ...refusedWith(error(null, -32063, { reason: "limit_exceeded" })), fullSize: true, versions },
  ),
  row(
    "N091",
    "an array of 10,000 requests is answered",
    () => [
      `[${many(10_000)
        .map((_, i) => echo(String(i)))
        .join()}]`,
    ],
    { fullSize: true, replies: [many(10_000).map((_, i) => echoed(i))], calls: { "_test/echo": 10_000 } },
  ),
];
