// Content blocks and the content of tool calls. Version 1 wraps the blocks of a tool call, and its annotations are few.

import { detailsOf, withDetails, withoutDetails } from "../exchange/details.ts";
import { type Fields, type Lost, metaField } from "../exchange/exchange.ts";
import { isObject, optional } from "../exchange/library.ts";
import type { ContentBlock, ToolCallContent } from "../wire/pharo/types.gen.ts";

/** The fields without those that are null or undefined: version 1 writes null for nothing, the dialect does not. */
export function given(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}

export function blockToV1(block: ContentBlock): Fields {
  const { annotations, _meta: _, ...rest } = block;
  if (annotations === undefined) return { ...rest, ...metaField(block) };
  const { title, ...others } = annotations;
  const isTitle = block.type === "resource_link" && typeof title === "string";
  const mine = Object.entries(isTitle ? others : annotations);
  const fits = mine.filter(([key, value]) => fitsV1(key, value));
  const details = mine.filter(([key, value]) => !fitsV1(key, value));
  return {
    ...rest,
    ...(isTitle ? { title } : {}),
    ...(fits.length === 0 ? {} : { annotations: Object.fromEntries(fits) }),
    ...withDetails(block, {
      annotations: details.length === 0 ? undefined : Object.fromEntries(details),
    }),
  };
}

/** Whether version 1 has this annotation. In the dialect annotations are custom data. */
function fitsV1(key: string, value: unknown): boolean {
  switch (key) {
    case "audience":
      return Array.isArray(value) && value.every((each) => each === "user" || each === "assistant");
    case "priority":
      return typeof value === "number";
    case "lastModified":
      return typeof value === "string";
    case "_meta":
      return isObject(value);
    default:
      return false;
  }
}

const blockTypes = new Set(["text", "image", "audio", "resource", "resource_link"]);

/** Undefined for a block that the dialect does not have. */
export function blockToPharo(block: Fields, lost: Lost): Fields | undefined {
  const { type } = block;
  if (typeof type !== "string" || !blockTypes.has(type)) {
    lost(`content of type ${String(type)}`);
    return undefined;
  }
  const { annotations, title, resource, _meta: _, ...rest } = block;
  const own = detailsOf(block)["annotations"];
  const all = {
    ...(isObject(annotations) ? given(annotations) : {}),
    ...(isObject(own) ? own : {}),
    ...(type === "resource_link" && typeof title === "string" ? { title } : {}),
  };
  return {
    ...given(rest),
    ...(isObject(resource) ? { resource: given(resource) } : {}),
    ...(Object.keys(all).length === 0 ? {} : { annotations: all }),
    ...withoutDetails(block, ["annotations"]),
  };
}

export function blocksToPharo(blocks: unknown, lost: Lost): Fields[] {
  if (!Array.isArray(blocks)) return [];
  return (blocks as readonly Fields[]).flatMap<Fields>((block) => blockToPharo(block, lost) ?? []); // of version 1
}

export function toolContentToV1(item: ToolCallContent): Fields {
  if (item.type === "diff") {
    const { mimeType, _meta: _, ...rest } = item;
    return { ...rest, ...withDetails(item, { mimeType }) };
  }
  if (item.type === "terminal") {
    const { command, exitCode, _meta: _, ...rest } = item;
    return { ...rest, ...withDetails(item, { command, exitCode }) };
  }
  return { type: "content", content: blockToV1(item) };
}

/** Undefined for content that the dialect does not have. */
export function toolContentToPharo(item: Fields, lost: Lost): Fields | undefined {
  const details = detailsOf(item);
  switch (item["type"]) {
    case "content": {
      const block = item["content"];
      if (!isObject(block)) return undefined;
      const meta = { ...metaField(item)._meta, ...metaField(block)._meta };
      return blockToPharo(Object.keys(meta).length === 0 ? block : { ...block, _meta: meta }, lost);
    }
    case "diff": {
      const { type, path, oldText, newText } = item;
      const { mimeType } = details;
      return {
        type,
        path,
        // a new file has no old text; the dialect writes an empty one
        oldText: oldText ?? "",
        newText,
        ...(typeof mimeType === "string" ? { mimeType } : {}),
        ...withoutDetails(item, ["mimeType"]),
      };
    }
    case "terminal": {
      const { type, terminalId } = item;
      const { command, exitCode } = details;
      return {
        type,
        terminalId,
        ...optional({
          command: typeof command === "string" ? command : undefined,
          exitCode: exitCode === null || Number.isInteger(exitCode) ? exitCode : undefined,
        }),
        ...withoutDetails(item, ["command", "exitCode"]),
      };
    }
    default:
      lost(`tool content of type ${String(item["type"])}`);
      return undefined;
  }
}
