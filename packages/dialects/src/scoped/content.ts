// Translates content blocks and the attachments of a prompt.

import type * as v1 from "@parley/acp/v1";
import { withoutMeta } from "../exchange/details.ts";
import { type Fields, type Lost, metaField } from "../exchange/exchange.ts";
import { detailsKey, isObject, optional, RequestError } from "../exchange/library.ts";
import type * as scoped from "../wire/scoped/types.gen.ts";
import { detailText, dialectDetails, metaWithDetails } from "./details.ts";

export function blockFromScoped(block: scoped.ContentBlock): v1.ContentBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text, ...metaField(block) };
    case "image":
    case "audio":
      return mediaFromScoped(block);
    case "resource_link": {
      const { uri, mimeType, title } = block;
      const known = optional({ mimeType: mimeType ?? undefined, title: title ?? undefined });
      return { type: "resource_link", uri, name: title ?? lastPart(uri), ...known, ...metaField(block) };
    }
    case "resource": {
      const { uri, mimeType, title, content } = block;
      const resource = { uri, text: content, ...optional({ mimeType: mimeType ?? undefined }) };
      return { type: "resource", resource, ...metaWithDetails(block, { title }) };
    }
    default:
      // a newer peer's block: version 1 has no such type either, and says so
      return block as v1.ContentBlock;
  }
}

/** Version 1 has data only: a source by url becomes a link. */
function mediaFromScoped(block: Extract<scoped.ContentBlock, { type: "image" | "audio" }>): v1.ContentBlock {
  const { type, source } = block;
  if (source.type === "base64")
    return { type, data: source.data, mimeType: source.mediaType, ...metaField(block) };
  const { url, mediaType } = source;
  const name = lastPart(url);
  return {
    type: "resource_link",
    uri: url,
    name,
    mimeType: mediaType,
    ...metaWithDetails(block, { media: type }),
  };
}

export function blockToScoped(block: v1.ContentBlock, lost: Lost): scoped.ContentBlock {
  const meta = withoutMeta(block, [detailsKey]);
  if (block.annotations != null) lost("the annotations of content");
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text, ...meta };
    case "image":
    case "audio": {
      const { type, data, mimeType } = block;
      return { type, source: { type: "base64", mediaType: mimeType, data }, ...meta };
    }
    case "resource_link":
      return linkToScoped(block, meta);
    case "resource":
      return resourceToScoped(block, meta, lost);
    default:
      lost(`content of type ${String((block as { type: unknown }).type)}`);
      return { type: "text", text: placeholder(block) };
  }
}

function linkToScoped(block: v1.ResourceLink, meta: { _meta?: v1.Meta }): scoped.ContentBlock {
  const { uri, mimeType } = block;
  const media = dialectDetails(block)?.["media"];
  if (media === "image" || media === "audio")
    return { type: media, source: { type: "url", mediaType: mimeType ?? "", url: uri }, ...meta };
  const title = block.title ?? (block.name === lastPart(uri) ? undefined : block.name);
  return { type: "resource_link", uri, ...optional({ mimeType: mimeType ?? undefined, title }), ...meta };
}

function resourceToScoped(
  block: v1.EmbeddedResource,
  meta: { _meta?: v1.Meta },
  lost: Lost,
): scoped.ContentBlock {
  const { resource } = block;
  const { uri } = resource;
  const title = detailText(dialectDetails(block)?.["title"]);
  const mimeType = resource.mimeType ?? undefined;
  if ("text" in resource)
    return { type: "resource", uri, content: resource.text, ...optional({ mimeType, title }), ...meta };
  const [media] = /^(image|audio)(?=\/)/.exec(mimeType ?? "") ?? [];
  if (media === "image" || media === "audio")
    return {
      type: media,
      source: { type: "base64", mediaType: mimeType ?? "", data: resource.blob },
      ...meta,
    };
  lost("the bytes of an embedded resource");
  return { type: "resource_link", uri, ...optional({ mimeType, title }), ...meta };
}

/** What is shown in place of content that only text can stand for. */
export function placeholder(block: { readonly type: unknown }): string {
  const fields: Fields = { ...block };
  const inner = isObject(fields["resource"]) ? fields["resource"] : fields;
  const source = isObject(fields["source"]) ? fields["source"] : {};
  const where = inner["uri"] ?? source["url"] ?? inner["mimeType"] ?? source["mediaType"];
  return typeof where === "string" ? `[${String(block.type)}: ${where}]` : `[${String(block.type)}]`;
}

/** The document does not say what an attachment looks like: one that names a resource, or a file, is taken. */
export function attachmentFromScoped(attachment: Fields, index: number): v1.ContentBlock {
  const uri =
    detailText(attachment["uri"]) ?? detailText(attachment["url"]) ?? fileUri(detailText(attachment["path"]));
  if (uri === undefined) {
    const at = `/attachments/${index}`;
    const message = `session/prompt: params${at} must be an object with uri, url or path, got none of them`;
    throw RequestError.invalidParams(message, at);
  }
  const mimeType = detailText(attachment["mimeType"]) ?? detailText(attachment["mediaType"]);
  const meta = { _meta: { [detailsKey]: { attachment } } };
  const text = detailText(attachment["content"]) ?? detailText(attachment["text"]);
  const known = optional({ mimeType });
  if (text !== undefined) return { type: "resource", resource: { uri, text, ...known }, ...meta };
  const blob = detailText(attachment["data"]);
  if (blob !== undefined) return { type: "resource", resource: { uri, blob, ...known }, ...meta };
  const name = detailText(attachment["name"]) ?? detailText(attachment["title"]) ?? lastPart(uri);
  return { type: "resource_link", uri, name, ...known, ...meta };
}

/** The attachment that the block was; undefined for other blocks. */
export function attachmentOf(block: object): Fields | undefined {
  const attachment = dialectDetails(block)?.["attachment"];
  return isObject(attachment) ? attachment : undefined;
}

function fileUri(path: string | undefined): string | undefined {
  return path === undefined ? undefined : `file://${encodeURI(path)}`;
}

function lastPart(uri: string): string {
  return /[^/]+(?=\/*$)/.exec(uri)?.[0] ?? uri;
}
