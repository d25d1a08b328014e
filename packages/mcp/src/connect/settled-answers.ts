// Makes an answer of an MCP server end the call that it answers, however it looks. The MCP client ignores what is not valid.

import { isObject } from "@parley/acp/jsonrpc";

/** The messages of a batch, or the one message, settled. */
export function settledAnswers(value: unknown): readonly unknown[] {
  return Array.isArray(value) && value.length > 0 ? value.map(settledAnswer) : [settledAnswer(value)];
}

/** A valid answer in the place of an invalid one with an id; everything else as it is. */
export function settledAnswer(message: unknown): unknown {
  if (!isObject(message)) return message;
  const { method, id, result, error } = message;
  // a method beside a result is one mistake more
  if (method !== undefined && !isObject(result) && !isObject(error)) return message;
  const own = typeof id === "string" && /^\d{1,15}$/.test(id) ? Number(id) : id;
  if (typeof own !== "number") return message;
  const isResult = isObject(result) && error === undefined;
  const isError =
    isObject(error) &&
    Number.isInteger(error["code"]) &&
    typeof error["message"] === "string" &&
    result === undefined;
  if ((isResult || isError) && method === undefined) return { ...message, jsonrpc: "2.0", id: own };
  const said = error === undefined ? "" : `: ${JSON.stringify(error).slice(0, 500)}`;
  const what = `it sent an answer that is no valid ${error === undefined ? "result" : "error"}${said}`;
  return { jsonrpc: "2.0", id: own, error: { code: -32_603, message: what } };
}

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** A fetch whose event streams are settled. The client itself ends a call whose plain answer it cannot read. */
export function settlingFetch(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (response.body === null || !isStream) return response;
    const body = response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(settledLines())
      .pipeThrough(new TextEncoderStream());
    const { status, statusText, headers } = response;
    const settled = new Response(body, { status, statusText, headers });
    // the client looks at the address that answered
    Object.defineProperty(settled, "url", { value: response.url });
    return settled;
  };
}

/** Each event has its message on one line. Others, which the client reads as well, stay as they are. */
function settledLines(): TransformStream<string, string> {
  let rest = "";
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      if (lines.length > 0) controller.enqueue(`${lines.map(settledLine).join("\n")}\n`);
    },
    flush(controller) {
      if (rest !== "") controller.enqueue(settledLine(rest));
    },
  });
}

function settledLine(line: string): string {
  const [, before, data] = /^(data: ?)([{[].*[\]}])\r?$/.exec(line) ?? [];
  // the client reads one message in each event
  return data === undefined
    ? line
    : settledTexts(data)
        .map((text) => `${before}${text}`)
        .join("\n\n");
}

function settledTexts(text: string): readonly string[] {
  try {
    return settledAnswers(JSON.parse(text)).map((each) => JSON.stringify(each));
  } catch {
    // the client reports it
    return [text];
  }
}
