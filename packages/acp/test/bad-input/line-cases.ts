// Section "Framing and encoding" of the bad inputs in docs/rules.md: what a line or a frame is, N001 to N011.

import {
  type BadInput,
  bytesOnly,
  canary,
  echo,
  echoed,
  echoedWith,
  framed,
  framesHaveAnEnd,
  notAMessage,
  notJson,
  notUtf8,
  padded,
  refusedWith,
  row,
  smallLimit,
  withBytes,
} from "./bad-input.ts";

const refusedOnce = { replies: [notJson], counts: { refused: 1 } };
const skippedOnce = { counts: { noise: 1 } };

export const lineCases: readonly BadInput[] = [
  row("N001", "a message that breaks off", ['{"jsonrpc":"2.0","id":7,"meth'], { ...refusedOnce }),
  row("N002", "a log line", [`Using config /home/${canary}/.config`], {
    ...refusedOnce,
    asClient: skippedOnce,
  }),
  row(
    "N002",
    "a log line with colours, direction marks and a line separator",
    ["\u001b[2J\u009b31mfound \u202e gnihtyna \u2028 else"],
    { ...refusedOnce, asClient: skippedOnce },
  ),
  row("N002", "a log line of 100,000 characters", [`${"z".repeat(100_000)}${canary}`], {
    ...refusedOnce,
    asClient: skippedOnce,
  }),
  row(["N002", "N012"], "a log line in Latin-1", [withBytes("Gr@e is not UTF-8", 0xf6, 0xdf)], {
    ...refusedWith(notUtf8),
    asClient: skippedOnce,
    only: bytesOnly,
  }),
  row(["N002", "N024"], "a log line over the limit", [padded("Using @", smallLimit + 1)], {
    ...refusedWith(notAMessage(undefined, "too_large")),
    asClient: skippedOnce,
  }),
  row("N003", "a log line that begins like an array", ["[20:51:04] Using config"], {
    ...refusedOnce,
    asClient: skippedOnce,
  }),
  row(
    "N004",
    "a Content-Length header on a connection that began with lines",
    ["Content-Length: 40\r", "\r", echo("4")],
    {
      replies: [notJson, echoed(4)],
      calls: { "_test/echo": 1 },
      counts: { refused: 1 },
      asClient: { replies: [echoed(4)], calls: { "_test/echo": 1 }, counts: { noise: 1 } },
    },
  ),
  row("N005", "empty lines and lines of spaces", ["", "   ", "\t", "\r"]),
  row("N006", "a line that ends in CRLF", [`${echo("6")}\r`], { ...echoedWith(echoed(6)) }),
  row("N007", "a byte order mark at the beginning", [withBytes(`@${echo("7")}`, 0xef, 0xbb, 0xbf)], {
    ...echoedWith(echoed(7)),
    first: true,
    only: { on: ["stdio"], because: "it marks the beginning of a stream of bytes; frames are text" },
  }),
  row("N008", "raw line and paragraph separators inside a string", [echo("8", "a\u2028b\u2029c\u0085d")], {
    ...echoedWith(echoed(8, "a\u2028b\u2029c\u0085d")),
  }),
  row("N009", "a lone CR between two objects", [`${echo("9")}\r${echo("10")}`], { ...refusedOnce }),
  row("N010", "two objects on one line", [echo("9") + echo("10")], { ...refusedOnce }),
  {
    ids: ["N011"],
    name: "an object printed over several lines",
    send: () => JSON.stringify(JSON.parse(echo("11")), undefined, 2).split("\n"),
    replies: Array.from({ length: 8 }, () => notJson),
    counts: { refused: 8 },
    // only the first line begins like a message
    asClient: { replies: [notJson], counts: { refused: 1, noise: 7 } },
    only: framesHaveAnEnd,
  },
  row(
    "N011",
    "an object printed over several lines in one frame is one message",
    [JSON.stringify(JSON.parse(echo("11")), undefined, 2)],
    { ...echoedWith(echoed(11)), only: framed },
  ),
];
