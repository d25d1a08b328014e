// The files of a dialect's client, for our agent.

import type * as v1 from "@parley/acp/v1";
import { withMetaKeys, withoutMeta } from "../exchange/details.ts";
import type { Exchange, Fields, Handler } from "../exchange/exchange.ts";
import {
  createDirectoriesKey,
  detailsKey,
  encodingKey,
  fileFactsKey,
  optional,
  overwriteKey,
} from "../exchange/library.ts";
import type * as scoped from "../wire/scoped/types.gen.ts";
import { capabilityMissing, refusing } from "./calls.ts";
import { booleanOf, detailText, dialectDetails, given, metaValue } from "./details.ts";

export function handleAgentFiles(
  exchange: Exchange,
  can: () => scoped.FsCapabilities | null | undefined,
): void {
  const read: Handler = (params, call) => {
    if (can()?.read !== true) throw capabilityMissing("fs.read");
    const { path, line, limit } = params as object as v1.ReadTextFileRequest; // our side's
    // the dialect has no empty range
    if (limit === 0) return call.answer({ content: "" });
    const startLine = line == null ? undefined : Math.max(line, 1);
    const endLine = limit == null ? undefined : (startLine ?? 1) + limit - 1;
    const request = {
      path,
      ...optional({
        encoding: detailText(metaValue(params, encodingKey)),
        startLine: startLine ?? (endLine === undefined ? undefined : 1),
        endLine,
      }),
      ...withoutMeta(params, [encodingKey]),
    };
    call.forward(request, (result) => {
      const { content, encoding, totalLines, truncated } = result as object as scoped.ReadTextFileResponse; // checked
      const facts = given({ totalLines, truncated });
      const keys = {
        [encodingKey]: encoding,
        [fileFactsKey]: Object.keys(facts).length > 0 ? facts : undefined,
      };
      return { content, ...withMetaKeys(result, keys) };
    });
  };
  const write: Handler = (params, call) => {
    if (can()?.write !== true) throw capabilityMissing("fs.write");
    const { path, content } = params as object as v1.WriteTextFileRequest; // our side's
    const request = {
      path,
      content,
      ...howToWrite(params),
      ...optional({ encoding: detailText(metaValue(params, encodingKey)) }),
      ...withoutMeta(params, [encodingKey, overwriteKey, createDirectoriesKey, detailsKey]),
    };
    call.forward(request, (result) => {
      const { bytesWritten, created } = result as object as scoped.WriteTextFileResponse; // checked
      return withMetaKeys(result, { [fileFactsKey]: { bytesWritten, created } });
    });
  };
  exchange.handle("us", { "fs/read_text_file": refusing(read), "fs/write_text_file": refusing(write) });
}

/** Version 1 creates directories and replaces files. A request of the dialect says what it said. */
function howToWrite(params: Fields): Pick<scoped.WriteTextFileRequest, "createDirectories" | "overwrite"> {
  const details = dialectDetails(params);
  if (details === undefined)
    return {
      createDirectories: metaValue(params, createDirectoriesKey) !== false,
      overwrite: metaValue(params, overwriteKey) !== false,
    };
  const overwrite = booleanOf(details["overwrite"]);
  return optional({ createDirectories: booleanOf(details["createDirectories"]), overwrite });
}
