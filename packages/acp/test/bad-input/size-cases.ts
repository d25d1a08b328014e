// Section "Framing and encoding" of the bad inputs in docs/rules.md: how long a message may be, N023 and N024. What
// takes a stream of bytes or its end (N025 to N029) is among the scenarios.

import { type BadInput, error, notAMessage, padded, request, result, smallLimit } from "./bad-input.ts";

const head = '{"jsonrpc":"2.0","id":24,"method":"_test/size","params":';

const fullLimit = 32 * 1024 * 1024;

export const sizeCases: readonly BadInput[] = [
  {
    ids: ["N023"],
    name: "a message of 32 MiB, to the byte",
    fullSize: true,
    send: () => [padded(`${head}{"value":"@"}}`, fullLimit)],
    replies: [result(24, fullLimit - `${head}{"value":""}}`.length)],
    calls: { "_test/size": 1 },
  },
  {
    ids: ["N024"],
    name: "a request of 32 MiB and one byte",
    fullSize: true,
    send: () => [padded(`${head}{"value":"@"}}`, fullLimit + 1)],
    replies: [error(24, -32600, { reason: "too_large" })],
    counts: { refused: 1 },
  },
  {
    ids: ["N023"],
    name: "a message that is as long as the limit allows, in characters of two bytes",
    send: () => [`${head}{"value":"${"é".repeat(smallLimit / 2 - 50)}"}}`],
    replies: [result(24, smallLimit / 2 - 50)],
    calls: { "_test/size": 1 },
  },
  {
    ids: ["N024"],
    name: "a message whose bytes are over the limit and whose characters are not",
    send: () => [`${head}{"value":"${"é".repeat(smallLimit / 2)}"}}`],
    replies: [error(24, -32600, { reason: "too_large" })],
    counts: { refused: 1 },
  },
  {
    ids: ["N024"],
    name: "a request over the limit whose id stands behind its params",
    send: () => [padded('{"jsonrpc":"2.0","method":"_test/size","params":"@","id":24}', smallLimit + 1)],
    replies: [notAMessage(undefined, "too_large")],
    counts: { refused: 1 },
  },
  {
    ids: ["N024"],
    name: "a request over the limit with something like an id inside its params",
    send: () => [
      padded(
        '{"jsonrpc":"2.0","method":"_test/size","params":{"id":5,"x":["id",6],"y":"@"}}',
        smallLimit + 1,
      ),
    ],
    replies: [notAMessage(undefined, "too_large")],
    counts: { refused: 1 },
  },
  {
    ids: ["N024"],
    name: "a request over the limit that is full of escaped quotes",
    send: () => [`${head}"${'\\"id\\":5,'.repeat(smallLimit / 8)}"}`],
    replies: [error(24, -32600, { reason: "too_large" })],
    counts: { refused: 1 },
    withinMs: 20_000,
  },
  {
    ids: ["N024", "N048"],
    name: "a request over the limit with an id of 1,025 characters",
    send: () => [padded(request(`"${"i".repeat(1_025)}"`, "_test/size", "@"), smallLimit + 1)],
    replies: [notAMessage(undefined, "too_large")],
    counts: { refused: 1 },
  },
  {
    ids: ["N024", "N051"],
    name: "a request over the limit whose id is in use",
    send: () => [
      request('"mine"', "_test/hold"),
      padded(request('"mine"', "_test/size", "@"), smallLimit + 1),
      '{"jsonrpc":"2.0","method":"_test/release","params":{"keys":["mine"]}}',
    ],
    replies: [notAMessage(undefined, "too_large")],
    later: [result("mine", "released")],
    calls: { "_test/hold": 1, "_test/release": 1 },
    counts: { refused: 1 },
  },
  {
    ids: ["N024"],
    name: "an answer over the limit rejects the request that it answers",
    asks: 1,
    send: ([open]) => [padded(`{"jsonrpc":"2.0","id":${open},"result":"@"}`, smallLimit + 1)],
    later: [result("ask0", { kind: "too_large" })],
    counts: { refused: 1 },
  },
];
