import assert from "node:assert/strict";
import { test } from "node:test";
import { normalPath } from "./normal-path.ts";

const forms: Readonly<Record<string, readonly string[]>> = {
  "/ws": ["/ws", "/ws/", "//ws//", "/ws/.", "/./ws", "/ws/a/..", "/../ws", "/ws/a/b/../../"],
  "/": ["/", "//", "/.", "/..", "/a/.."],
  "/ws/..a/.b": ["/ws/..a/.b", "/ws//..a/./.b/"],
  "/a\\b": ["/a\\b", "/a\\b/"],
  "C:\\ws": ["C:\\ws", "c:/ws/", "C:\\ws\\.\\a\\..\\"],
  "C:\\": ["C:\\", "c:/", "C:\\.."],
  "\\\\server\\share\\ws": ["\\\\server\\share\\ws", "\\\\server\\share\\ws\\", "\\\\server/share/a/../ws"],
  "\\\\server\\share": ["\\\\server\\share", "\\\\server\\share\\", "\\\\server\\share\\.."],
  "ws/..": ["ws/.."],
  "": [""],
};

for (const [normal, written] of Object.entries(forms)) {
  test(`${JSON.stringify(normal)} has one form, however it is written`, () => {
    assert.deepEqual(
      written.map(normalPath),
      written.map(() => normal),
    );
  });
}
