import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { clipboardImage } from "./clipboard-image.ts";

const png = Buffer.from("89504e470d0a1a0a0000", "hex");
const options = { timeout: 60_000 };

/** A PATH with programs that print these files. */
function programs(t: TestContext, outputs: Readonly<Record<string, Buffer>>): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-clipboard-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, output] of Object.entries(outputs)) {
    writeFileSync(join(folder, `${name}.out`), output);
    // a clipboard without an image makes it fail
    const script = `#!/bin/sh\n/bin/cat '${join(folder, `${name}.out`)}'\n[ -s '${join(folder, `${name}.out`)}' ]\n`;
    writeFileSync(join(folder, name), script);
    chmodSync(join(folder, name), 0o700);
  }
  return folder;
}

test("an image is pasted with the program of the desktop", options, async (t) => {
  const image = { mimeType: "image/png", data: png.toString("base64") };
  const PATH = programs(t, {
    "wl-paste": png,
    xclip: png,
    osascript: Buffer.from(`«data PNGf${png.toString("hex").toUpperCase()}»\n`),
  });
  assert.deepEqual(await clipboardImage({ PATH, WAYLAND_DISPLAY: "wayland-0" }, "linux"), image);
  assert.deepEqual(await clipboardImage({ PATH, DISPLAY: ":0" }, "linux"), image);
  assert.deepEqual(await clipboardImage({ PATH }, "darwin"), image);
});

test(
  "a program in the workspace is not started, also where PATH has it through a link",
  options,
  async (t) => {
    const workspace = programs(t, { xclip: png });
    const linked = join(programs(t, {}), "bin");
    symlinkSync(workspace, linked);
    for (const [PATH, folder] of [
      [workspace, workspace],
      [linked, workspace],
      [workspace, linked],
      [`.:${workspace}`, dirname(workspace)],
    ] as const)
      assert.match(
        String(await clipboardImage({ PATH: `${PATH}:/nowhere`, DISPLAY: ":0" }, "linux", folder)),
        /^install xclip to paste/,
      );
  },
);

test("why no image can be pasted is said", options, async (t) => {
  const nothing = programs(t, { xclip: Buffer.alloc(0) });
  const text = programs(t, { xclip: Buffer.from("only words") });
  const none = "there is no image in the clipboard";
  assert.equal(await clipboardImage({ PATH: nothing, DISPLAY: ":0" }, "linux"), none);
  assert.equal(await clipboardImage({ PATH: text, DISPLAY: ":0" }, "linux"), none);
  assert.match(
    String(await clipboardImage({ PATH: "/nowhere", DISPLAY: ":0" }, "linux")),
    /^install xclip to paste/,
  );
  assert.match(String(await clipboardImage({ PATH: nothing }, "linux")), /^there is no desktop here/);
});
