// Our client's files, for a dialect's agent.

import type * as v1 from "@parley/acp/v1";
import { withMetaKeys, withoutMeta } from "../exchange/details.ts";
import type { Answer, Call, Exchange, Fields, Handler } from "../exchange/exchange.ts";
import {
  createDirectoriesKey,
  detailsKey,
  encodingKey,
  errorKindOf,
  fileFactsKey,
  optional,
  overwriteKey,
  RequestError,
} from "../exchange/library.ts";
import type * as scoped from "../wire/scoped/types.gen.ts";
import { attempt, capabilityMissing, refusing } from "./calls.ts";
import type { ClientTurn } from "./client-terminals.ts";
import { booleanOf, countOf, detailText, given, metaValue } from "./details.ts";

const utf8 = new TextEncoder();

export class ClientFiles {
  readonly #exchange: Exchange;
  readonly #offered: () => scoped.FsCapabilities | null | undefined;
  readonly #turn: () => ClientTurn;

  constructor(
    exchange: Exchange,
    offered: () => scoped.FsCapabilities | null | undefined,
    turn: () => ClientTurn,
  ) {
    this.#exchange = exchange;
    this.#offered = offered;
    this.#turn = turn;
    exchange.handle("peer", {
      "fs/read_text_file": refusing(this.#read),
      "fs/write_text_file": refusing(this.#write),
    });
  }

  readonly #read: Handler = (params, call) => {
    if (this.#offered()?.read !== true) throw capabilityMissing("fs.read");
    const { path, startLine, endLine, encoding } = params as object as scoped.ReadTextFileRequest; // checked
    const { sessionId, resolve } = this.#turn();
    const line = startLine ?? undefined;
    if (endLine != null && endLine < (line ?? 1)) {
      const message = "fs/read_text_file: params/endLine must be at least startLine";
      throw RequestError.invalidParams(`${message}, got ${endLine}`, "/endLine");
    }
    const limit = endLine == null ? undefined : endLine - (line ?? 1) + 1;
    const keys = { [encodingKey]: isUtf8(encoding) ? undefined : encoding };
    const request = {
      sessionId,
      path: resolve(path),
      ...optional({ line, limit }),
      ...withMetaKeys(params, keys),
    };
    call.forward(request, (result) => {
      const { content } = result as object as v1.ReadTextFileResponse; // our side's
      const facts = factsOf(result);
      // another client of the dialect has said what it wants to say
      const isOwn = metaValue(result, fileFactsKey) === undefined;
      const isWhole = isOwn && line === undefined && limit === undefined;
      const totalLines = countOf(facts["totalLines"]) ?? (isWhole ? linesIn(content) : undefined);
      const truncated = booleanOf(facts["truncated"]) ?? (isWhole ? false : undefined);
      return {
        content,
        // the encoding that was used, whatever was asked for
        encoding: detailText(metaValue(result, encodingKey)) ?? "utf-8",
        ...optional({ totalLines, truncated }),
        ...withoutMeta(result, [fileFactsKey, encodingKey, detailsKey]),
      };
    });
  };

  /** Version 1 does not say whether the file was there before: it is read first. */
  readonly #write: Handler = (params, call) => {
    if (this.#offered()?.write !== true) throw capabilityMissing("fs.write");
    const given = params as object as scoped.WriteTextFileRequest; // checked by its row
    const { sessionId, resolve } = this.#turn();
    const path = resolve(given.path);
    if (this.#offered()?.read !== true) {
      if (given.overwrite === false) throw capabilityMissing("fs.read, which overwrite: false needs");
      return this.#put(params, { sessionId, path }, undefined, call);
    }
    this.#exchange.ask("us", "fs/read_text_file", { sessionId, path, line: 1, limit: 1 }, (answer) =>
      attempt(call, () => {
        const isThere = existed(answer);
        if (given.overwrite === false && isThere !== false) throw taken(path, answer);
        this.#put(params, { sessionId, path }, isThere, call);
      }),
    );
  };

  #put(
    params: Fields,
    { sessionId, path }: { sessionId: string; path: string },
    wasThere: boolean | undefined,
    call: Call,
  ): void {
    const { content, encoding, overwrite, createDirectories } =
      params as object as scoped.WriteTextFileRequest; // checked
    const keys = {
      [encodingKey]: isUtf8(encoding) ? undefined : encoding,
      [overwriteKey]: overwrite === false ? false : undefined,
      [createDirectoriesKey]: createDirectories === false ? false : undefined,
      [detailsKey]: given({ createDirectories, overwrite }),
    };
    const request = { sessionId, path, content, ...withMetaKeys(params, keys) };
    call.forward(request, (result) => {
      const facts = factsOf(result);
      return {
        bytesWritten: countOf(facts["bytesWritten"]) ?? utf8.encode(content).length,
        created: booleanOf(facts["created"]) ?? wasThere === false,
        ...withoutMeta(result, [fileFactsKey, detailsKey]),
      };
    });
  }
}

function factsOf(result: object): Fields {
  const facts = metaValue(result, fileFactsKey);
  return typeof facts === "object" && facts !== null ? (facts as Fields) : {}; // any object may be read by name
}

/** Undefined where it cannot be known. What is not text is there too. */
function existed(answer: Answer): boolean | undefined {
  if (answer.error === undefined) return true;
  const kind = errorKindOf(answer.error.code, answer.error.data);
  return kind === "not_found" ? false : kind === "not_text" || kind === "limit_exceeded" ? true : undefined;
}

function taken(path: string, { error }: Answer): RequestError {
  const why =
    error === undefined ? "it exists, and overwrite is false" : `it could not be checked: ${error.message}`;
  return new RequestError("conflict", `${path} was not written: ${why}`, {
    data: { reason: "conflict", path },
  });
}

function isUtf8(encoding: string | null | undefined): boolean {
  return encoding == null || /^utf-?8$/i.test(encoding);
}

function linesIn(text: string): number {
  if (text === "") return 0;
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}
