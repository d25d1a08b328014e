// The proxy `context`: adds instructions and files to the first prompt of a session.

import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { nameKey } from "@parley/acp/extensions";
import type { ContentBlock } from "@parley/acp/model";
import { proxy } from "@parley/acp/proxy";
import { option } from "../command/command.ts";
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
    file: option("FILE", "A file, relative to the session's directory, up to 256 KiB; can be repeated", {
      multiple: true,
    }),
    text: option("TEXT", "An instruction; can be repeated", { multiple: true }),
  },

  create(given) {
    const [files, texts] = [given.list("file"), given.list("text")];
    if (files.length + texts.length === 0) given.wrong("at least one --file or --text");

    let embeds = false;
    return proxy<Data>({
      name: "context",
      version: "1.0.0",
      // a session that is continued has it already
      session: () => ({ isFirst: false, isTried: false, cwd: "." }),
      results: {
        initialize(result) {
          embeds = takesResources(result);
        },
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
        const added = [
          ...texts.map((text, at) => ({ name: "instruction", uri: `context:${at + 1}`, text })),
          ...files.map((file) => fromFile(file, data.cwd)),
        ];
        // behind the user's own words, which are the title of the session
        return { ...prompt, content: [...prompt.content, ...added.map((each) => blockOf(each, embeds))] };
      },
      turnEnd({ stopReason }, { data }) {
        // the agent has not taken it: the next prompt has it again
        if (data.isTried && stopReason === "error") data.isFirst = true;
        data.isTried = false;
      },
    });
  },
};

interface Added {
  readonly name: string;
  readonly uri: string;
  readonly text: string;
  /** In front of the text where it is not in a block of its own kind. */
  readonly heading?: string;
}

/** As in version 1 or 2. */
function takesResources(initialized: unknown): boolean {
  const { agentCapabilities, capabilities } = initialized as {
    readonly agentCapabilities?: { readonly promptCapabilities?: { readonly embeddedContext?: boolean } };
    readonly capabilities?: {
      readonly session?: { readonly prompt?: { readonly embeddedContext?: object } };
    };
  }; // as: the edition was negotiated by it
  const { embeddedContext } = { ...agentCapabilities?.promptCapabilities, ...capabilities?.session?.prompt };
  return embeddedContext != null && embeddedContext !== false;
}

/** Some agents put the texts of a prompt next to each other. */
function blockOf({ name, uri, text, heading = "" }: Added, embeds: boolean): ContentBlock {
  const _meta = { [nameKey]: name };
  if (!embeds) return { type: "text", text: `\n\n${heading}${text}`, _meta };
  return { type: "resource", resource: { uri, text, mimeType: "text/plain" }, _meta };
}

/** A file that cannot be read is told to the agent, which can say so. */
function fromFile(file: string, cwd: string): Added {
  const path = resolve(cwd, file);
  const named = { name: file, uri: pathToFileURL(path).href };
  try {
    const { size } = statSync(path);
    if (size > mostBytes)
      return { ...named, text: `[The file ${file} is too large to be added: ${size} bytes.]` };
    return { ...named, text: readFileSync(path, "utf8"), heading: `The file ${file}:\n\n` };
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException; // as: what it throws
    return { ...named, text: `[The file ${file} could not be added: ${code}.]` };
  }
}
