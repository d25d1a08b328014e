import assert from "node:assert/strict";
import { test } from "node:test";
import { HostQuestions } from "./host-questions.ts";

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
