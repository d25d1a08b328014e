// Needs a process of its own: it puts a link between all conversations and their hosts.
// The tests of conversations once more, with hosts behind a slow link that is cut at random.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cutLink } from "../../../../client/test/support/cut-link.ts";
import { linked } from "../../../test/support/chat-probe.ts";

const seed = Number(process.env["PARLEY_LINK_SEED"] ?? 7);
let sessions = 0;
let cuts = 0;

before(() => {
  linked.link = (host) => cutLink(host, { seed: seed + sessions++, onCut: () => cuts++ });
});
after(() => {
  linked.link = undefined;
});

await import("./conversation.process.test.ts");
await import("./failed-choices.process.test.ts");
await import("./running-sessions.process.test.ts");
await import("./session-copies.process.test.ts");

test("the links of these tests were cut often enough to prove something", () => {
  assert.ok(cuts > 30, `${cuts} cuts of ${sessions} links`);
});
