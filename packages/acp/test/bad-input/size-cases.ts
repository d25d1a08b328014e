// Section "Framing and encoding" of the bad inputs in docs/rules.md: how long a message may be, N023 and N024. What
// takes a stream of bytes or its end (N025 to N029) is among the scenarios.

import {
  type BadInput,
  error,
  notAMessage,
  padded,
  refusedWith,
  request,
  result,
  row,
  smallLimit,
} from "./bad-input.ts";

const head = '{"jsonrpc":"2.0","id":24,"method":"_test/size","params":';

const fullLimit = 32 * 1024 * 1024;

export const sizeCases: readonly BadInput[] = [
  row("N023", "a message of 32 MiB, to the byte", () => [padded(`${head}{"value":"@"}}`, fullLimit)], {
    fullSize: true,
    replies: [result(24, fullLimit - `${head}{"value":""}}`.length)],
    calls: { "_test/size": 1 },
  }),
  row("N024", "a request of 32 MiB and one byte", () => [padded(`${head}{"value":"@"}}`, fullLimit + 1)], {
    ...refusedWith(error(24, -32600, { reason: "too_large" })),
    fullSize: true,
  }),
  row(
    "N023",
    "a message that is as long as the limit allows, in characters of two bytes",
    [`${head}{"value":"${"é".repeat(smallLimit / 2 - 50)}"}}`],
    { replies: [result(24, smallLimit / 2 - 50)], calls: { "_test/size": 1 } },
  ),
  row(
    "N024",
    "a message whose bytes are over the limit and whose characters are not",
    [`${head}{"value":"${"é".repeat(smallLimit / 2)}"}}`],
    { ...refusedWith(error(24, -32600, { reason: "too_large" })) },
  ),
  row(
    "N024",
    "a request over the limit whose id stands behind its params",
    [padded('{"jsonrpc":"2.0","method":"_test/size","params":"@","id":24}', smallLimit + 1)],
    { ...refusedWith(error(24, -32600, { reason: "too_large" })) },
  ),
  row(
    "N024",
    "a request over the limit whose params come first, then all the rest",
    [padded('{"params":"@","id":24,"method":"_test/size", "jsonrpc":"2.0"}', smallLimit + 1)],
    { ...refusedWith(error(24, -32600, { reason: "too_large" })) },
  ),
  row(
    "N024",
    "a request over the limit whose params and method come first, and are long",
    [padded(`{"params":"@","method":"${"m".repeat(5_000)}","jsonrpc":"2.0","id":24}`, smallLimit + 1)],
    { ...refusedWith(error(24, -32600, { reason: "too_large" })) },
  ),
  row(
    "N024",
    "a request over the limit whose method alone is longer than what is kept of it",
    [padded('{"jsonrpc":"2.0","id":24,"method":"@","params":{}}', smallLimit + 1)],
    { ...refusedWith(error(24, -32600, { reason: "too_large" })) },
  ),
  row(
    "N024",
    "a request over the limit with something like an id inside its params",
    [
      padded(
        '{"jsonrpc":"2.0","method":"_test/size","params":{"id":5,"x":["id",6],"y":"@"}}',
        smallLimit + 1,
      ),
    ],
    { ...refusedWith(notAMessage(undefined, "too_large")) },
  ),
  row(
    "N024",
    "a request over the limit that is full of escaped quotes",
    [`${head}"${'\\"id\\":5,'.repeat(smallLimit / 8)}"}`],
    { ...refusedWith(error(24, -32600, { reason: "too_large" })), withinMs: 20_000 },
  ),
  row(
    ["N024", "N048"],
    "a request over the limit with an id of 1,025 characters",
    [padded(request(`"${"i".repeat(1_025)}"`, "_test/size", "@"), smallLimit + 1)],
    { ...refusedWith(notAMessage(undefined, "too_large")) },
  ),
  row(
    ["N024", "N051"],
    "a request over the limit whose id is in use",
    [
      request('"mine"', "_test/hold"),
      padded(request('"mine"', "_test/size", "@"), smallLimit + 1),
      '{"jsonrpc":"2.0","method":"_test/release","params":{"keys":["mine"]}}',
    ],
    {
      ...refusedWith(notAMessage(undefined, "too_large")),
      later: [result("mine", "released")],
      calls: { "_test/hold": 1, "_test/release": 1 },
    },
  ),
  row(
    "N024",
    "an answer over the limit rejects the request that it answers",
    ([open]) => [padded(`{"jsonrpc":"2.0","id":${open},"result":"@"}`, smallLimit + 1)],
    { asks: 1, later: [result("ask0", { kind: "too_large" })], counts: { refused: 1 } },
  ),
];
