// Records and replays model conversations as files that only their owner can read.

import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { type Model, ModelError } from "./model.ts";
import { recordingModel, replayModel } from "./recording.ts";

/**
 * Creates the file on the first request, since most listed models are never used. Keeps an existing file: the recording
 * goes to `path.2`, `path.3` and so on.
 */
export function recordToFile(model: Model, path: string): Model {
  let file: string | undefined;
  const write = (line: string): void => {
    file ??= newFile(path);
    // synchronous, so that nothing is lost when the process is killed
    appendFileSync(file, line);
  };
  return recordingModel(model, write);
}

export function replayFile(path: string): Model {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? error.code : error;
    throw new ModelError("bad_request", `The recording ${path} cannot be read (${reason}).`);
  }
  return replayModel(text);
}

function newFile(path: string): string {
  for (let count = 1; ; count++) {
    const file = count === 1 ? path : `${path}.${count}`;
    try {
      writeFileSync(file, "", { flag: "wx", mode: 0o600 });
      return file;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "EEXIST" && count < 1000) continue;
      throw new ModelError("bad_request", `The recording ${file} cannot be written (${code ?? error}).`);
    }
  }
}
