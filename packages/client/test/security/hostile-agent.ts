// A program: an agent that does to files and terminals what its prompt says, as JSON, and answers with the results.

import { agent, RequestError, type Turn } from "@parley/acp";
import { serveStdio } from "@parley/acp/node";
import type { Attempt, Attempted } from "./hostile-probe.ts";

await serveStdio(
  agent({
    name: "hostile",
    version: "1.0.0",
    async prompt(turn) {
      const results: Attempted[] = [];
      for (const attempt of JSON.parse(turn.text) as Attempt[]) results.push(await attempted(turn, attempt)); // from the tests
      await turn.say(JSON.stringify(results));
    },
  }),
);

async function attempted(turn: Turn, attempt: Attempt): Promise<Attempted> {
  try {
    return { value: await act(turn, attempt) };
  } catch (error) {
    // our own library does not even send some of it
    return { code: error instanceof RequestError ? error.code : 0 };
  }
}

async function act(turn: Turn, attempt: Attempt): Promise<string> {
  const { files, terminals } = turn.client;
  switch (attempt.act) {
    case "read":
      return (await files?.readText(attempt.path)) ?? "";
    case "write":
      await files?.writeText(attempt.path, attempt.content);
      return "written";
    case "run": {
      const { act: _, ...options } = attempt;
      const terminal = await terminals?.create(options);
      await terminal?.waitForExit();
      const output = (await terminal?.output())?.output ?? "";
      await terminal?.release();
      return output;
    }
    case "ask": {
      const { title, kind, rawInput, locations, diff } = attempt;
      const start = { title, kind, rawInput, ...(locations === undefined ? {} : { locations }) };
      return turn.tool(start, async (tool) => {
        if (diff !== undefined) await tool.diff(diff);
        return String((await tool.requestPermission()) !== undefined);
      });
    }
    case "environment":
      return JSON.stringify(process.env);
  }
}
