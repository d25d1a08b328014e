// Remembers which version of each file the model has read; the oldest entries are dropped.

import type { SeenFiles } from "../base/tool.ts";

const maxFiles = 4_096;

export function seenFiles(): SeenFiles {
  const versions = new Map<string, string>();
  return {
    note(path, version) {
      // a Map keeps insertion order, so the first is the oldest
      versions.delete(path);
      versions.set(path, version);
      const oldest = versions.size > maxFiles ? versions.keys().next().value : undefined;
      if (oldest !== undefined) versions.delete(oldest);
    },
    versionOf: (path) => versions.get(path),
    forget: (path) => void versions.delete(path),
  };
}
