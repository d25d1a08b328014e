// The `read` tool: reads a text file or an image.

import { basename, dirname, join } from "node:path";
import { optional } from "@parley/acp/jsonrpc";
import { imageProblem } from "../../model/image-limits.ts";
import { pdfType } from "../../model/media.ts";
import type { MediaPart } from "../../model/model.ts";
import { pathNames } from "../base/argument-names.ts";
import { defineTool, textPart } from "../base/define-tool.ts";
import { imageTypeOf, isBinary, isPdf } from "../base/media-type.ts";
import { shownText, shownVerbatim } from "../base/shown-content.ts";
import { type RunContext, type ToolContext, ToolError, type ToolResult } from "../base/tool.ts";
import { headOf, maxBytes, maxLines } from "../base/truncation.ts";
import { resolveReadable, shownPath } from "../base/workspace-path.ts";

export const readTool = defineTool({
  name: "read",
  description: `Read a text file, an image or a PDF file. Returns at most ${maxLines} lines or ${maxBytes / 1024} KB; continue with offset. The user is asked about paths outside the workspace.`,
  isReadOnly: true,
  draft: { title: "Read", kind: "read" },
  aliases: {
    path: pathNames,
    offset: ["line", "start_line", "startLine", "start"],
    limit: ["lines", "num_lines", "count"],
  },
  properties: {
    path: { type: "string", description: "The file: absolute, or relative to the working directory" },
    offset: { type: "integer", minimum: 1, description: "First line to read, from 1" },
    limit: { type: "integer", minimum: 1, description: "Number of lines to read" },
  },
  required: ["path"],
  async prepare({ path: given, offset = 1, limit }, context) {
    const { path, shown, access, within } = await resolveReadable(context, given, "file");
    const range =
      limit === undefined
        ? offset === 1
          ? ""
          : ` from line ${offset}`
        : ` (lines ${offset}-${offset + limit - 1})`;
    return {
      presentation: { title: `Read ${shown}${range}`, kind: "read", locations: [{ path, line: offset }] },
      access,
      run: (run) => within(run, (inner) => readPart(inner, path, offset, limit)),
    };
  },
});

async function readPart(
  context: RunContext,
  path: string,
  offset: number,
  limit: number | undefined,
): Promise<ToolResult> {
  const media = await mediaOrNothing(context, path);
  if (media !== undefined) return media;
  const { text, version } = await readableText(context, path);
  const shown = shownPath(context, path);
  const excerpt = headOf(text, offset, optional({ maxLines: limit }));
  const { from, to, lines } = excerpt;
  context.seen.note(path, version, { from, to, lines });
  if (lines === 0) return { content: [textPart(`[${shown} is empty]`)], rawOutput: { lines } };
  if (from > lines) throw new ToolError(`${shown} has ${lines} lines; offset ${from} is beyond its end`);
  if (to < from) {
    throw new ToolError(
      `line ${from} of ${shown} alone is longer than ${maxBytes / 1024} KB; look at parts of it with bash, such as cut -c`,
    );
  }
  const note = to < lines ? `\n\n[lines ${from}-${to} of ${lines}; continue with offset=${to + 1}]` : "";
  return {
    content: [textPart(excerpt.text + note)],
    rawOutput: { from, to, lines },
    shown: [shownVerbatim(excerpt.text, path)],
  };
}

/** Returns images and PDF files, refuses other binary files, and leaves texts to the caller. */
async function mediaOrNothing(context: RunContext, path: string): Promise<ToolResult | undefined> {
  const { files, signal } = context;
  const shown = shownPath(context, path);
  const facts = await files.stat(path).catch(async (error: unknown) => {
    if (await files.isAbsent(path, error)) return undefined;
    throw error;
  });
  // it may still be open in the editor
  if (facts === undefined) return undefined;
  if (facts.kind === "directory") throw new ToolError(`${shown} is a directory`, { advice: "use list" });
  if (facts.kind === "other") throw new ToolError(`${shown} is not a regular file and cannot be read`);
  const bytes = await files.readBytes(path, { signal });
  if (isPdf(bytes)) return pdfResult(bytes, path, shown);
  const mediaType = imageTypeOf(bytes);
  if (mediaType === undefined) {
    if (!isBinary(bytes)) return undefined;
    throw new ToolError(`${shown} is a binary file of ${bytes.length} bytes, not text`, {
      advice: "inspect it with bash if you must",
    });
  }
  return imageResult(bytes, mediaType, shown);
}

async function imageResult(bytes: Uint8Array, mediaType: string, shown: string): Promise<ToolResult> {
  const original: MediaPart = { type: "image", mediaType, data: Buffer.from(bytes).toString("base64") };
  // loaded on use, to keep startup fast
  const { fittedImage } = await import("../../model/fit-image.ts");
  const image = await fittedImage(original);
  const problem = imageProblem(Buffer.from(image.data, "base64"));
  if (problem !== undefined)
    throw new ToolError(`${shown} is an image that cannot be sent: ${problem} with bash`);
  const note = image === original ? "" : "; too large to send, so this is a smaller copy";
  return {
    content: [textPart(`[${shown}, ${mediaType}, ${bytes.length} bytes${note}]`), image],
    rawOutput: { mediaType, bytes: bytes.length },
    shown: [{ type: "content", content: { type: "image", data: image.data, mimeType: image.mediaType } }],
  };
}

/** What a model does not take is replaced by a note when it is sent, since the model may change. */
function pdfResult(bytes: Uint8Array, path: string, shown: string): ToolResult {
  const about = `[${shown}, ${pdfType}, ${bytes.length} bytes]`;
  const data = Buffer.from(bytes).toString("base64");
  return {
    content: [textPart(about), { type: "document", mediaType: pdfType, data, name: basename(path) }],
    rawOutput: { mediaType: pdfType, bytes: bytes.length },
    shown: [shownText(about)],
  };
}

/** Reads a text; suggests similar names when it does not exist. */
export async function readableText(
  context: ToolContext,
  path: string,
): Promise<{ readonly text: string; readonly version: string }> {
  const { files, signal } = context;
  try {
    return await files.read(path, { signal });
  } catch (error) {
    if (!(await files.isAbsent(path, error))) throw error;
    const similar = await similarNames(context, path);
    const what = `there is no file ${shownPath(context, path)}`;
    if (similar.length > 0)
      throw new ToolError(`${what}; did you mean ${similar.join(" or ")}?`, { cause: error });
    throw new ToolError(what, { cause: error, advice: "search for the file by name with find" });
  }
}

async function similarNames(context: ToolContext, path: string): Promise<string[]> {
  const stem = (name: string) => name.toLowerCase().replace(/\..*$/, "").replace(/[-_ ]/g, "");
  const wanted = stem(basename(path));
  const entries = await context.files.list(dirname(path)).catch(() => []);
  return entries
    .filter(({ name }) => stem(name) === wanted && wanted !== "")
    .slice(0, 3)
    .map(({ name }) => shownPath(context, join(dirname(path), name)));
}
