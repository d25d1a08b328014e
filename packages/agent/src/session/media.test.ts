// Tests what becomes of images, audio and files in prompts, with models that take them and models that do not.

import assert from "node:assert/strict";
import type { ContentBlock, SessionUpdate } from "@parley/acp";
import { memoryStore } from "@parley/acp/store";
import {
  calls,
  connected,
  inEveryVersion,
  says,
  scriptedModel,
  talk,
  thought,
} from "../../test/support/agent-probe.ts";
import type { ModelRequest } from "../model/model.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const image: ContentBlock = { type: "image", mimeType: "image/png", data: "AAAA" };
const audio: ContentBlock = { type: "audio", mimeType: "audio/wav", data: "AAAA" };
const blob = (uri: string, bytes: string, mimeType?: string): ContentBlock => ({
  type: "resource",
  resource: { uri, blob: bytes, ...(mimeType !== undefined && { mimeType }) },
});
const pdf = blob("file:///project/a%20b.pdf", base64("%PDF-1.7"), "application/pdf");
const look: ContentBlock = { type: "text", text: "look" };
const all = { takesImages: true, takesAudio: true, takesDocuments: true };

/** The parts of the last user message. */
function asked(request: ModelRequest | undefined): unknown {
  const message = request?.messages.findLast(({ role }) => role === "user");
  return message?.role === "user" ? message.content : undefined;
}

/** What the user was told besides the answer: in notices, or in thoughts. */
function told(updates: readonly SessionUpdate[]): string {
  const notices = updates.flatMap((u) => (u.sessionUpdate === "notice" ? [u.title] : []));
  return [...notices, thought(updates)].join("\n");
}

inEveryVersion("the agent declares what its configured model takes", {}, async (setup) => {
  const blind = scriptedModel([], { id: "blind" });
  const seeing = scriptedModel([], { id: "seeing", takesImages: true });
  const hearing = scriptedModel([], { id: "hearing", ...all });
  const declared = async (options: Parameters<typeof connected>[0]) => {
    const { agent, end } = await connected(options);
    await end();
    const { image, audio, embeddedContext } = agent.capabilities;
    return { image, audio, embeddedContext };
  };
  const models = [blind, seeing, hearing];
  const nothing = { image: false, audio: false, embeddedContext: true };
  assert.deepEqual(await declared({ ...setup, models }), nothing);
  assert.deepEqual(await declared({ ...setup, models, model: "seeing" }), { ...nothing, image: true });
  assert.deepEqual(await declared({ ...setup, models, model: "hearing" }), {
    image: true,
    audio: true,
    embeddedContext: true,
  });
  assert.deepEqual(await declared(setup), nothing, "the offline model sees nothing");
});

inEveryVersion(
  "images, audio and PDF files reach a model that takes them, also after a load",
  {},
  async (setup) => {
    const store = memoryStore();
    const model = scriptedModel([says("A cat."), says("Still.")], all);
    const made = await talk({ ...setup, tools: [], models: [model], store });
    assert.equal((await made.session.prompt([look, image, audio, pdf]).result).stopReason, "end_turn");
    const expected = [
      { type: "text", text: "look" },
      { type: "image", mediaType: "image/png", data: "AAAA" },
      { type: "audio", mediaType: "audio/wav", data: "AAAA" },
      {
        type: "document",
        mediaType: "application/pdf",
        data: base64("%PDF-1.7"),
        name: "file:///project/a%20b.pdf",
      },
    ];
    assert.deepEqual(asked(model.requests[0]), expected);
    assert.equal(told(made.updates), "");
    await made.end();
    const { agent, end } = await connected({ ...setup, tools: [], models: [model], store });
    const session = await agent.loadSession(made.session.sessionId, { cwd: setup.cwd });
    await session.prompt("again").result;
    const [first] = model.requests[1]?.messages ?? [];
    assert.deepEqual(first?.role === "user" && first.content, expected);
    await end();
  },
);

inEveryVersion("a file that the model does not take is a note, and the turn goes on", {}, async (setup) => {
  const model = scriptedModel([says("ok")]);
  const { session, updates } = await talk({ ...setup, tools: [], models: [model] });
  const zip = blob("file:///project/x.zip", "UEsDBAAA", "application/zip");
  const picture = blob("file:///project/x.png", "iVBORw0KGgo=");
  const { stopReason } = await session.prompt([look, pdf, zip, picture]).result;
  assert.equal(stopReason, "end_turn");
  assert.deepEqual(
    (asked(model.requests[0]) as { text: string }[]).map(({ text }) => text),
    [
      "look",
      "[document file:///project/a%20b.pdf left out: Scripted does not accept PDF documents: choose another model (/model)]",
      "[document file:///project/x.zip left out: a file of type application/zip cannot be sent, only text, images, audio and PDF]",
      "[image file:///project/x.png left out: Scripted does not accept images: choose another model (/model)]",
    ],
  );
  assert.match(told(updates), /a%20b\.pdf was left out: Scripted does not accept PDF documents/);
  assert.match(told(updates), /x\.zip was left out: a file of type application\/zip cannot be sent/);
  assert.match(told(updates), /x\.png was left out: Scripted does not accept images/);
});

inEveryVersion("a file of text that came as bytes is text", {}, async (setup) => {
  const model = scriptedModel([says("ok")]);
  const { session, updates } = await talk({ ...setup, tools: [], models: [model] });
  const files = [
    blob("file:///a.json", base64('{"ü":1}'), "application/json; charset=utf-8"),
    blob("file:///b", base64("plain")),
    blob("file:///c.txt", "/////w==", "text/plain"),
  ];
  await session.prompt(files).result;
  assert.deepEqual(
    (asked(model.requests[0]) as { text: string }[]).map(({ text }) => text.slice(0, 60)),
    [
      '<resource uri="file:///a.json">\n{"ü":1}\n</resource>',
      '<resource uri="file:///b">\nplain\n</resource>',
      "[document file:///c.txt left out: a file of type text/plain cannot be sent".slice(0, 60),
    ],
  );
  assert.match(told(updates), /c\.txt was left out/);
});

inEveryVersion("a PDF file that is too large for a request is a note", {}, async (setup) => {
  const model = scriptedModel([says("ok")], all);
  const { session } = await talk({ ...setup, tools: [], models: [model] });
  const large = blob("file:///large.pdf", "AAAA".repeat(5 * 1024 * 1024), "application/pdf");
  assert.equal((await session.prompt([look, large]).result).stopReason, "end_turn");
  assert.match(
    JSON.stringify(asked(model.requests[0])),
    /large\.pdf left out: it has 15728640 bytes; at most/,
  );
});

inEveryVersion("A110 after a change to a model that takes less, the rest is a note", {}, async (setup) => {
  const seeing = scriptedModel([says("A cat."), says("The cat.")], { id: "seeing", name: "Seeing", ...all });
  const blind = scriptedModel([says("What cat?"), says("No.")], { id: "blind", name: "Blind" });
  const { session, updates } = await talk({ ...setup, tools: [], models: [seeing, blind] });
  await session.prompt([look, image, audio]).result;
  await session.setConfigOption("model", "blind");
  assert.equal(told(updates), "");
  await session.prompt("and now?").result;
  assert.equal(told(updates), "", "what was sent before is no news");
  assert.equal((await session.prompt([look, image]).result).stopReason, "end_turn");
  assert.match(told(updates), /The image was left out: Blind does not accept images/);
  assert.match(JSON.stringify(blind.requests[1]?.messages), /image left out.*audio left out.*image left out/);
  assert.doesNotMatch(JSON.stringify(blind.requests), /AAAA/);
  await session.setConfigOption("model", "seeing");
  await session.prompt("again").result;
  assert.equal(JSON.stringify(seeing.requests[1]).split("AAAA").length - 1, 3, "nothing is lost");
});

inEveryVersion(
  "a PDF file that the model reads reaches it if it takes PDF files, else it is told why not",
  { "a.pdf": "%PDF-1.7" },
  async (setup) => {
    const answers = () => [calls(["read", { path: "a.pdf" }]), says("done")];
    const seen = async (more: object) => {
      const model = scriptedModel(answers(), more);
      const { session } = await talk({ ...setup, models: [model], mode: "code" });
      await session.prompt("go").result;
      const message = model.requests[1]?.messages.at(-1);
      return message?.role === "tool" ? message.outcomes[0]?.content[1] : undefined;
    };
    const data = base64("%PDF-1.7");
    assert.deepEqual(await seen(all), {
      type: "document",
      mediaType: "application/pdf",
      data,
      name: "a.pdf",
    });
    assert.deepEqual(await seen({}), {
      type: "text",
      text: "[document a.pdf left out: Scripted does not accept PDF documents: choose another model (/model)]",
    });
  },
);
