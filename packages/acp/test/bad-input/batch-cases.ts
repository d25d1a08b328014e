// Section "Envelope" of the bad inputs in docs/rules.md, third part: batches, N084 to N091.

import {
  type BadInput,
  bothVersions,
  canary,
  echo,
  echoed,
  error,
  notAMessage,
  notification,
  request,
  requestOf,
  result,
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
  {
    ids: ["N084"],
    name: "an empty array",
    send: () => ["[]"],
    replies: [notAMessage()],
    counts: { refused: 1 },
    asClient: noise,
    versions,
  },
  {
    ids: ["N085"],
    name: "an array of two numbers",
    send: () => ["[1,2]"],
    replies: [[notAMessage(), notAMessage()]],
    counts: { refused: 2 },
    asClient: noise,
    versions,
  },
  {
    ids: ["N085"],
    name: "arrays in an array",
    send: () => ["[[],[[]]]"],
    replies: [[notAMessage(), notAMessage()]],
    counts: { refused: 2 },
  },
  {
    ids: ["N086"],
    name: "an array of one request",
    send: () => [`[${echo("86")}]`],
    replies: [[echoed(86)]],
    calls: { "_test/echo": 1 },
    versions,
  },
  {
    ids: ["N086", "N045"],
    name: "an array of requests with ids beyond 2^53, and such numbers in their params",
    send: () => [
      `[${requestOf("9007199254740993", "_test/echo", '{"requestId":9007199254740993}')},${echo("9007199254740995")}]`,
    ],
    replies: [[result("#9007199254740993", { requestId: 9007199254740992 }), echoed("#9007199254740995")]],
    calls: { "_test/echo": 2 },
    versions,
  },
  {
    ids: ["N086", "N045"],
    name: "an array that cancels a request with an id beyond 2^53",
    send: () => [
      request("9007199254740993", "_test/hold"),
      `[{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":9007199254740993}}]`,
    ],
    later: [{ id: "#9007199254740993", error: { code: -32800 } }],
    calls: { "_test/hold": 1 },
  },
  {
    ids: ["N086", "N051"],
    name: "an array with the same id twice, the first still running",
    send: () => [
      `[${request('"twice"', "_test/hold")},${echo('"twice"')}]`,
      notification("_test/release", { keys: ["twice"] }),
    ],
    later: [[notAMessage("/id", "duplicate_id"), result("twice", "released")]],
    calls: { "_test/hold": 1, "_test/release": 1 },
    counts: { refused: 1 },
  },
  {
    ids: ["N087"],
    name: "an array of one notification",
    send: () => [`[${note}]`],
    calls: { "_test/note": 1 },
    versions,
  },
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
  {
    ids: ["N089"],
    name: "an array of two answers",
    asks: 2,
    send: ([first, second]) => [
      `[{"jsonrpc":"2.0","id":${second},"result":"two"},{"jsonrpc":"2.0","id":${first},"result":"one"}]`,
    ],
    later: [result("ask0", { result: "one" }), result("ask1", { result: "two" })],
    versions,
  },
  {
    ids: ["N089"],
    name: "an array of two answers that nobody waits for",
    send: () => ['[{"jsonrpc":"2.0","id":8888,"result":1},{"jsonrpc":"2.0","id":null,"error":{"code":1}}]'],
    counts: { strayAnswers: 2 },
  },
  ...([1, 2] as const).map(
    (version): BadInput => ({
      ids: ["N090"],
      name: "initialize alone in an array",
      send: () => [`[${initialize(version)}]`],
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
  {
    ids: ["N091"],
    name: "an array of 10,001 requests",
    fullSize: true,
    send: () => [
      `[${many(10_001)
        .map((_, i) => echo(String(i)))
        .join()}]`,
    ],
    replies: [error(null, -32063, { reason: "limit_exceeded" })],
    counts: { refused: 1 },
    versions,
  },
  {
    ids: ["N091"],
    name: "an array of 10,000 requests is answered",
    fullSize: true,
    send: () => [
      `[${many(10_000)
        .map((_, i) => echo(String(i)))
        .join()}]`,
    ],
    replies: [many(10_000).map((_, i) => echoed(i))],
    calls: { "_test/echo": 10_000 },
  },
];
