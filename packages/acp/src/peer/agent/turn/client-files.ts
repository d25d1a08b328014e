// The files of a client, by requests.

import { optional } from "../../../base/objects.ts";
import { createDirectoriesKey, encodingKey, overwriteKey } from "../../../base/parley-extensions.ts";
import { understands } from "../../../edition/dialect.ts";
import type { Meta } from "../../../model/content.ts";
import type { Files, ReadTextOptions, TextEncoding, WriteTextOptions } from "../../../model/services.ts";
import { type ClientServices, notOnV1 } from "./client-services.ts";

export function clientFiles(
  services: ClientServices,
  can: { readonly read: boolean; readonly write: boolean },
): Files {
  const { sessionId, ask } = services;
  return {
    canRead: can.read,
    canWrite: can.write,
    async readText(path: string, { line, limit, encoding, signal, _meta }: ReadTextOptions = {}) {
      const meta = withKeys(_meta, encodingMeta("readText", encoding, services));
      const params = { sessionId, path, ...optional({ line, limit, _meta: meta }) };
      const result = await ask("fs/read_text_file", params, signal);
      return (result as { content: string }).content; // validated by the method's row
    },
    async writeText(path: string, content: string, options: WriteTextOptions = {}) {
      const { encoding, overwrite, createDirectories, signal, _meta } = options;
      if (overwrite === false && !understands(services.dialect, overwriteKey))
        throw notOnV1("writeText", "way to leave a file that exists", "read the file first");
      if (createDirectories === false && !understands(services.dialect, createDirectoriesKey))
        throw notOnV1("writeText", "way to leave out missing directories", "look for the directory first");
      const meta = withKeys(_meta, {
        ...encodingMeta("writeText", encoding, services),
        ...(createDirectories === false ? { [createDirectoriesKey]: false } : {}),
        ...(overwrite === false ? { [overwriteKey]: false } : {}),
      });
      const params = { sessionId, path, content, ...optional({ _meta: meta }) };
      await ask("fs/write_text_file", params, signal);
    },
  };
}

function encodingMeta(
  method: string,
  encoding: TextEncoding | undefined,
  { dialect }: ClientServices,
): Meta | undefined {
  if (encoding === undefined || encoding === "utf-8") return undefined;
  if (!understands(dialect, encodingKey))
    throw notOnV1(method, `encoding but UTF-8, got ${JSON.stringify(encoding)}`, "use a command instead");
  return { [encodingKey]: encoding };
}

/** The custom data with more keys; undefined when there is neither. */
export function withKeys(meta: Meta | undefined, keys: Meta | undefined): Meta | undefined {
  return keys === undefined || Object.keys(keys).length === 0 ? meta : { ...meta, ...keys };
}
