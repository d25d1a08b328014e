import assert from "node:assert/strict";
import { test } from "node:test";
import type { RequestContext } from "@parley/acp";
import { hostWords } from "../conversation/host-words.ts";
import { AgentHost, type AgentWays } from "./agent-host.ts";
import { HostQuestions } from "./host-questions.ts";
import { SessionHost } from "./session-host.ts";

const address = {
  mode: "url",
  message: "Visit it",
  elicitationId: "1",
  url: "https://example.org/",
  host: "example.org",
} as const;

test("C48 an address that is done needs no answer any more", async () => {
  const questions = new HostQuestions(() => undefined);
  const completed = new AbortController();
  const asked = questions.elicitation(
    { ...address, completed: completed.signal },
    { signal: new AbortController().signal },
  );
  assert.deepEqual(questions.list, [{ id: questions.list[0]?.id, kind: "elicitation", question: address }]);
  completed.abort();
  assert.deepEqual(await asked, { action: "accept" });
  assert.deepEqual(questions.list, []);
});

test("C48 an address is given up with the work that asked for it", async () => {
  const questions = new HostQuestions(() => undefined);
  const over = new AbortController();
  const { signal: completed } = new AbortController();
  const asked = questions.elicitation({ ...address, completed }, { signal: over.signal, sessionId: "s" });
  over.abort();
  assert.deepEqual(await asked, { action: "cancel" });
});

test("C48 whoever was asked is told that the agent reports it as done", async () => {
  const accepts = { images: false, steering: false, forks: false };
  const facts = { name: "a", asker: "a", title: undefined, edition: undefined, accepts };
  const fake = { facts, sandbox: "", lateMs: 0, running: undefined, readsWords: true, close: async () => {} };
  const open = () => new Promise<never>(() => undefined);
  const problem = async () => ({ message: "" });
  const session = new SessionHost({ cwd: "/", agent: facts, open, problem });
  let ways: AgentWays | undefined;
  const host = new AgentHost((given) => {
    ways = given;
    return fake;
  });
  host.join(session);
  const told: string[] = [];
  session.tail(undefined, (event) => {
    const words = event.kind === "entries" ? event.entries.map(hostWords) : [];
    for (const each of words) if (each?.kind === "notice") told.push(each.notice.text);
  });
  const completed = new AbortController();
  // as: a host reads nothing else of it
  const context = { signal: new AbortController().signal } as RequestContext;
  const asked = ways?.asker.elicit({ ...address, completed: completed.signal }, context);
  completed.abort();
  assert.deepEqual(await asked, { action: "accept" });
  assert.deepEqual(told, ["the agent reports that it is done"]);
});
