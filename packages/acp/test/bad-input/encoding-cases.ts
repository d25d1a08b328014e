// Section "Framing and encoding" of the bad inputs in docs/rules.md: bytes, characters and what is not quite JSON,
// N012 to N022.

import {
  type BadInput,
  badParams,
  bytesOnly,
  canary,
  echo,
  echoed,
  echoedWith,
  error,
  notJson,
  notUtf8,
  refusedWith,
  request,
  requestOf,
  result,
  row,
  withBytes,
} from "./bad-input.ts";

const refusedOnce = { replies: [notJson], counts: { refused: 1 } };
const skippedOnce = { counts: { noise: 1 } };

const badBytes = [
  ["N012", "the byte FF", [0xff]],
  ["N012", "the bytes C3 28", [0xc3, 0x28]],
  ["N012", "a character that is cut off", [0xe2, 0x82]],
  ["N013", "the overlong form C0 AF", [0xc0, 0xaf]],
  ["N014", "the encoded surrogate ED A0 80", [0xed, 0xa0, 0x80]],
] as const;

export const encodingCases: readonly BadInput[] = [
  ...badBytes.map(([id, name, bytes]) =>
    row(
      id,
      `${name} in a path`,
      [withBytes(request("12", "_test/echo", { path: `/${canary}/@` }), ...bytes)],
      { ...refusedWith(notUtf8), only: bytesOnly },
    ),
  ),
  ...badBytes.map(([id, name, bytes]) =>
    row(
      id,
      `${name} in a text frame`,
      [withBytes(request("12", "_test/echo", { path: `/${canary}/@` }), ...bytes)],
      {
        closes: "closed",
        closeCode: 1007,
        only: {
          on: ["websocket"],
          because: "a WebSocket itself closes with 1007 for text that is not UTF-8",
        },
      },
    ),
  ),
  row("N012", "a U+FFFD that was sent as such is text", [echo("12", "a\ufffdb")], {
    ...echoedWith(echoed(12, "a\ufffdb")),
  }),
  row(
    "N012",
    "good lines around one with a bad byte, in one write",
    [withBytes(`${echo("1")}\n{"x":"@"}\n${echo("2")}`, 0xff)],
    {
      replies: [echoed(1), notUtf8, echoed(2)],
      calls: { "_test/echo": 2 },
      counts: { refused: 1 },
      only: bytesOnly,
    },
  ),
  row("N015", "half a surrogate pair in a text", [requestOf("15", "_test/echo", '{"text":"a\\ud800b"}')], {
    ...echoedWith(echoed(15, "a\ud800b")),
  }),
  row(
    ["N015", "N017"],
    "half a surrogate pair and a NUL in the text of a prompt",
    [
      requestOf(
        "15",
        "session/prompt",
        '{"sessionId":"s","prompt":[{"type":"text","text":"\\ud800\\u0000"}]}',
      ),
    ],
    { replies: [result(15, { stopReason: "end_turn" })], calls: { "session/prompt": 1 }, roles: ["agent"] },
  ),
  row("N015", "half a surrogate pair in an id", [requestOf('"a\\udc00"', "_test/echo", "{}")], {
    replies: [error("a\udc00", -32602, { reason: "malformed_unicode", path: "/id" })],
  }),
  row(
    "N015",
    "half a surrogate pair in a method",
    ['{"jsonrpc":"2.0","id":15,"method":"_test/echo\\ud800","params":{}}'],
    { replies: [error(15, -32602, { reason: "malformed_unicode", path: "/method" })] },
  ),
  row("N016", "a raw NUL byte", [echo("16").replace(canary, "a\0b")], { ...refusedOnce }),
  row("N017", "an escaped NUL in a text", [echo("17", "a\0b")], { ...echoedWith(echoed(17, "a\0b")) }),
  ...unusableStrings(),
  {
    ids: ["N018"],
    name: "a line in UTF-16LE spoils itself and the next one",
    send: () => [utf16(echo("18")), withBytes(`@${echo("19")}`, 0), echo("20")],
    replies: [notJson, notJson, echoed(20)],
    calls: { "_test/echo": 1 },
    counts: { refused: 2 },
    // neither line begins like a message, so a client takes both for noise
    asClient: { replies: [echoed(20)], calls: { "_test/echo": 1 }, counts: { noise: 2 } },
    only: bytesOnly,
  },
  row("N019", "NaN as a value", [requestOf("19", "_test/echo", '{"x":NaN}')], { ...refusedOnce }),
  row("N020", "a trailing comma", [requestOf("20", "_test/echo", '{"x":1,}')], { ...refusedOnce }),
  row("N021", "a comment", [requestOf("21", "_test/echo", "{/* x */}")], { ...refusedOnce }),
  {
    ids: ["N022"],
    name: "strings in single quotes",
    send: () => [echo("22").replaceAll('"', "'")],
    ...refusedOnce,
    // what a program prints of an object looks like this
    asClient: skippedOnce,
  },
];

/** N015 and N017 where an operating system would get the string: a path, an argument, a variable, a command. */
function unusableStrings(): BadInput[] {
  const bad = [
    ["N015", "half a surrogate pair", "\\ud800"],
    ["N017", "an escaped NUL", "\\u0000"],
  ] as const;
  const server = '"name":"m","command":"/c","args":[],"env":[]';
  const places = [
    ["agent", "session/new", "/cwd", '"cwd":"/@","mcpServers":[]'],
    [
      "agent",
      "session/new",
      "/mcpServers/0/command",
      `"cwd":"/","mcpServers":[{${server.replace("/c", "/@")}}]`,
    ],
    [
      "agent",
      "session/new",
      "/mcpServers/0/args/0",
      `"cwd":"/","mcpServers":[{${server.replace("[]", '["@"]')}}]`,
    ],
    [
      "agent",
      "session/new",
      "/mcpServers/0/env/0/value",
      `"cwd":"/","mcpServers":[{${server.replace('"env":[]', '"env":[{"name":"A","value":"@"}]')}}]`,
    ],
    ["client", "fs/read_text_file", "/path", '"sessionId":"s","path":"/@"'],
    ["client", "terminal/create", "/cwd", '"sessionId":"s","command":"c","cwd":"/@"'],
    ["client", "terminal/create", "/command", '"sessionId":"s","command":"@"'],
    ["client", "terminal/create", "/args/1", '"sessionId":"s","command":"c","args":["a","@"]'],
    [
      "client",
      "terminal/create",
      "/env/0/name",
      '"sessionId":"s","command":"c","env":[{"name":"@","value":"v"}]',
    ],
  ] as const;
  return bad.flatMap(([id, what, sequence]) =>
    places.map(([role, method, path, params]) =>
      row(
        id,
        `${what} in ${path} of ${method}`,
        [requestOf("17", method, `{${params.replace("@", `${canary}${sequence}`)}}`)],
        { replies: [badParams(17, path)], roles: [role] },
      ),
    ),
  );
}

function utf16(text: string): Uint8Array {
  return Uint8Array.from([...text].flatMap((char) => [char.charCodeAt(0), 0]));
}
