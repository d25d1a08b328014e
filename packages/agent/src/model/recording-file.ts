// Recordings as files. What users and models say is in them: nobody else may read them.

import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { type Model, ModelError } from "./model.ts";
import { type Placeholders, recordingModel, replayModel } from "./recording.ts";

/**
 * The file is made with the first request, since most models that can be chosen never are. An existing file is left
 * alone: the recording goes to `path.2`, `path.3` and so on.
 */
export function recordToFile(model: Model, path: string, placeholders?: Placeholders): Model {
  let file: string | undefined;
  const write = (line: string): void => {
    file ??= newFile(path);
    // Synchronous, so that a process that is killed has lost nothing.
    appendFileSync(file, line);
  };
  return recordingModel(model, write, placeholders);
}

export function replayFile(path: string, placeholders?: Placeholders): Model {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? error.code : error;
    throw new ModelError("bad_request", `The recording ${path} cannot be read (${reason}).`);
  }
  return replayModel(text, placeholders);
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
