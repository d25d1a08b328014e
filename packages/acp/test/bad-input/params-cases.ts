// Section "Envelope" of the bad inputs in docs/rules.md, second part: params and their size, N071 to N083.

import {
  type BadInput,
  badParams,
  bothVersions,
  canary,
  echoedWith,
  error,
  nested,
  notAMessage,
  type Reply,
  refusedWith,
  request,
  requestOf,
  result,
  row,
} from "./bad-input.ts";
import type { Role } from "./subject.ts";

const versions = bothVersions;

const typed: readonly (readonly [Role, string])[] = [
  ["agent", "session/new"],
  ["agent", "session/prompt"],
  ["agent", "initialize"],
  ["client", "fs/read_text_file"],
  ["client", "session/request_permission"],
];

const shapes: readonly BadInput[] = [
  ...typed.flatMap(([role, method]) =>
    (
      [
        ["N071", "an array", "[]"],
        ["N071", "an array of values", `["${canary}"]`],
        ["N072", "a string", `"${canary}"`],
        ["N073", "a number", "5"],
        ["N073", "true", "true"],
        ["N074", "null", "null"],
      ] as const
    ).map(([id, name, params]) =>
      row(id, `params of ${method} is ${name}`, [requestOf("71", method, params)], {
        replies: [badParams(71, "")],
        roles: [role],
      }),
    ),
  ),
  ...typed.map(([role, method]) =>
    row("N074", `no params for ${method}`, [request("74", method)], {
      replies: [badParams(74, "")],
      roles: [role],
    }),
  ),
  row(
    "N074",
    "no params where none are required",
    [request("74", "session/list"), requestOf("75", "session/list", "null")],
    {
      replies: [result(74, { sessions: [] }), result(75, { sessions: [] })],
      calls: { "session/list": 2 },
      roles: ["agent"],
    },
  ),
];

const hostileKeys = [
  ["N075", '"__proto__":{"polluted":1}'],
  ["N076", '"constructor":{"prototype":{"polluted":1}}'],
] as const;

const keys: readonly BadInput[] = hostileKeys.flatMap(([id, text]): BadInput[] => [
  row(
    id,
    `${text} in params and in _meta of an extension`,
    [requestOf("75", "_test/echo", `{${text},"_meta":{${text}}}`)],
    { ...echoedWith(result(75, JSON.parse(`{${text},"_meta":{${text}}}`))), versions },
  ),
  row(
    id,
    `${text} in params and in _meta of session/new`,
    [requestOf("75", "session/new", `{"cwd":"/","mcpServers":[],${text},"_meta":{${text}}}`)],
    { replies: [result(75, { sessionId: "new" })], calls: { "session/new": 1 }, roles: ["agent"] },
  ),
  row(
    id,
    `${text} in a notification, at the root of a message and in an answer`,
    ([open]) => [
      `{"jsonrpc":"2.0","method":"_test/note","params":{${text}},${text}}`,
      `{"jsonrpc":"2.0","id":${open},"result":{${text}},${text}}`,
    ],
    { asks: 1, later: [result("ask0", { result: JSON.parse(`{${text}}`) })], calls: { "_test/note": 1 } },
  ),
]);

const tooDeep: Reply = error(78, -32602, { reason: "too_deep" });
const tooDeepWithoutId: Reply = notAMessage(undefined, "too_deep");
const manyKeys = () =>
  JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, i])));

const sizes: readonly BadInput[] = [
  {
    ids: ["N077"],
    name: "nesting of 512 levels",
    // the message, its params and 510 arrays
    send: () => [requestOf("77", "_test/size", `{"value":${nested(510)}}`)],
    replies: [result(77, 1)],
    calls: { "_test/size": 1 },
  },
  row(
    "N077",
    "brackets in strings are not nesting",
    [request("77", "_test/size", { value: '[{\\"'.repeat(2_000) })],
    { replies: [result(77, 8_000)], calls: { "_test/size": 1 } },
  ),
  row("N078", "nesting of 513 levels", [requestOf("78", "_test/size", `{"value":${nested(511)}}`)], {
    ...refusedWith(tooDeep),
  }),
  row(
    "N078",
    "nesting of 513 levels in a notification and in something that is no message",
    [`{"jsonrpc":"2.0","method":"_test/note","params":${nested(512)}}`, `{"a":${nested(512)}}`],
    { replies: [tooDeepWithoutId, tooDeepWithoutId], counts: { refused: 2 } },
  ),
  row(
    "N078",
    "an answer of 513 levels rejects the request that it answers",
    ([open]) => [`{"jsonrpc":"2.0","id":${open},"result":${nested(512)}}`],
    { asks: 1, later: [result("ask0", { kind: "too_large" })], counts: { refused: 1 } },
  ),
  row("N079", "nesting of 2,000,000 levels", () => [requestOf("78", "_test/size", nested(2_000_000))], {
    ...refusedWith(tooDeep),
    fullSize: true,
    withinMs: 20_000,
  }),
  row(
    "N079",
    "nesting of 2,000,000 levels without jsonrpc, closed and not",
    () => [nested(2_000_000), '{"a":'.repeat(2_000_000), "[".repeat(2_000_000)],
    {
      fullSize: true,
      replies: [tooDeepWithoutId, tooDeepWithoutId, tooDeepWithoutId],
      counts: { refused: 3 },
      withinMs: 20_000,
    },
  ),
  row(
    "N080",
    "an object with 100,000 keys",
    () => [requestOf("80", "_test/size", `{"value":${manyKeys()}}`)],
    { fullSize: true, replies: [result(80, 100_000)], calls: { "_test/size": 1 }, withinMs: 20_000 },
  ),
  row(
    "N080",
    "a prompt with 100,000 keys in _meta",
    () => [requestOf("80", "session/prompt", `{"sessionId":"s","prompt":[],"_meta":${manyKeys()}}`)],
    {
      fullSize: true,
      replies: [result(80, { stopReason: "end_turn" })],
      calls: { "session/prompt": 1 },
      withinMs: 20_000,
      roles: ["agent"],
    },
  ),
  row(
    "N080",
    "a key of 100,000 characters that leads to a bad value",
    () => {
      const properties = { ["k".repeat(100_000)]: 5 };
      const requestedSchema = { type: "object", properties };
      return [
        request("80", "elicitation/create", { sessionId: "s", mode: "form", message: "m", requestedSchema }),
      ];
    },
    { replies: [badParams(80, `${"/requestedSchema/properties/".padEnd(200, "k")}…`)], roles: ["client"] },
  ),
  row(
    "N081",
    "a prompt of 1,000,000 blocks",
    () => {
      const blocks = '{"type":"text","text":""},'.repeat(1_000_000).slice(0, -1);
      return [requestOf("81", "session/prompt", `{"sessionId":"s","prompt":[${blocks}]}`)];
    },
    {
      fullSize: true,
      replies: [error(81, -32063, { reason: "limit_exceeded", path: "/prompt" })],
      roles: ["agent"],
    },
  ),
  row(
    "N081",
    "a command with 1,000,000 arguments",
    () => {
      const args = '"",'.repeat(1_000_000).slice(0, -1);
      return [requestOf("81", "terminal/create", `{"sessionId":"s","command":"c","args":[${args}]}`)];
    },
    {
      fullSize: true,
      replies: [error(81, -32063, { reason: "limit_exceeded", path: "/args" })],
      roles: ["client"],
    },
  ),
  row(
    "N083",
    "an unknown key at the root of params and of the message",
    [
      `{"jsonrpc":"2.0","id":83,"method":"session/new","params":{"cwd":"/","mcpServers":[],"${canary}":1},"x":1}`,
    ],
    { replies: [result(83, { sessionId: "new" })], calls: { "session/new": 1 }, roles: ["agent"] },
  ),
  row(
    "N083",
    "an unknown key in a request to the client",
    [request("83", "fs/read_text_file", { sessionId: "s", path: "/a", [canary]: 1 })],
    { replies: [result(83, { content: "/a" })], calls: { "fs/read_text_file": 1 }, roles: ["client"] },
  ),
];

export const paramsCases: readonly BadInput[] = [...shapes, ...keys, ...sizes];
