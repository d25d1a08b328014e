// Which version of each file the model has seen. Bounded: what has been forgotten has to be read again.

import type { SeenFiles } from "../base/tool.ts";

const maxFiles = 4_096;

export function seenFiles(): SeenFiles {
  const versions = new Map<string, string>();
  return {
    note(path, version) {
      // A Map keeps the order of insertion: the first is the one not touched for longest.
      versions.delete(path);
      versions.set(path, version);
      const oldest = versions.size > maxFiles ? versions.keys().next().value : undefined;
      if (oldest !== undefined) versions.delete(oldest);
    },
    versionOf: (path) => versions.get(path),
    forget: (path) => void versions.delete(path),
  };
}
