// The proxy `context`: adds instructions and files to the first prompt of a session.

import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { ContentBlock } from "@parley/acp/model";
import { proxy } from "@parley/acp/proxy";
import type { ShippedProxy } from "./shipped-proxy.ts";

const mostBytes = 256 * 1024;

interface Data {
  isFirst: boolean;
  /** The prompt that has it is with the agent. */
  isTried: boolean;
  cwd: string;
}

export const context: ShippedProxy = {
  name: "context",
  summary: "Adds instructions and files to the first prompt of each session",
  options: {
    file: {
      type: "string",
      multiple: true,
      value: "FILE",
      summary: "A file, relative to the session's directory, up to 256 KiB; can be repeated",
    },
    text: { type: "string", multiple: true, value: "TEXT", summary: "An instruction; can be repeated" },
  },

  create(given) {
    const [files, texts] = [given.list("file"), given.list("text")];
    if (files.length + texts.length === 0) given.wrong("at least one --file or --text");

    return proxy<Data>({
      name: "context",
      version: "1.0.0",
      // a session that is continued has it already
      session: () => ({ isFirst: false, isTried: false, cwd: "." }),
      results: {
        "session/new"(_, session, { params }) {
          if (session === undefined) return;
          const { cwd } = params as { readonly cwd: string }; // as: the agent has accepted it
          Object.assign(session.data, { isFirst: true, cwd });
        },
      },
      prompt(prompt, session) {
        const { data } = session;
        const [first] = prompt.content;
        // the words of a command are its arguments
        if (!data.isFirst || (first?.type === "text" && first.text.startsWith("/"))) return undefined;
        data.isFirst = false;
        data.isTried = true;
        const added = [...texts, ...files.map((file) => contentOf(file, data.cwd))];
        const blocks = added.map((text): ContentBlock => ({ type: "text", text }));
        return { ...prompt, content: [...prompt.content, ...blocks] };
      },
      turnEnd({ stopReason }, { data }) {
        // the agent has not taken it: the next prompt has it again
        if (data.isTried && stopReason === "error") data.isFirst = true;
        data.isTried = false;
      },
    });
  },
};

/** A file that cannot be read is told to the agent, which can say so. */
function contentOf(file: string, cwd: string): string {
  const path = resolve(cwd, file);
  try {
    const { size } = statSync(path);
    if (size > mostBytes) return `[The file ${file} is too large to be added: ${size} bytes.]`;
    return `The file ${file}:\n\n${readFileSync(path, "utf8")}`;
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException; // as: what it throws
    return `[The file ${file} could not be added: ${code}.]`;
  }
}
