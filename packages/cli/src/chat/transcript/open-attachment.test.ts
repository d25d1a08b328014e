import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { attachmentsOf } from "../../draw/placeholders.ts";
import { openAttachment } from "./open-attachment.ts";

test("an image is written to a file; what could run is never named as such (N217, N218)", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "attachments-"));
  t.after(() => rm(folder, { recursive: true }));
  const place = { environment: {}, platform: "linux", folder } as const;
  const opened = async (block: object) => {
    const [attachment] = attachmentsOf([block as Parameters<typeof attachmentsOf>[0][number]]); // fixtures
    assert.ok(attachment);
    return openAttachment(attachment, place);
  };
  const png = await opened({ type: "image", mimeType: "image/png", data: "AAEC" });
  assert.match(png, /^written to .*\/image-1\.png$/);
  assert.deepEqual([...(await readFile(png.replace("written to ", "")))], [0, 1, 2]);
  for (const mimeType of ["image/svg+xml", "text/html", "../../x", "image/png\n", "__proto__"])
    assert.match(await opened({ type: "image", mimeType, data: "AAEC" }), /\/image-1\.bin$/, mimeType);
  const resource = { uri: "file:///x.html", text: "<script>", mimeType: "text/html" };
  assert.match(await opened({ type: "resource", resource }), /\/resource-1\.txt$/);
  assert.equal(
    await opened({ type: "image", mimeType: "image/png", data: "not base64" }),
    "its data is not base64",
  );
  assert.equal(
    await opened({ type: "image", mimeType: "image/png", data: "A".repeat(70 * 1024 * 1024) }),
    "it is too large to open",
  );
  assert.equal(
    await opened({ type: "resource_link", name: "x", uri: "https://a.example/\u001b[2J" }),
    "it is at https://a.example/\\u001b[2J",
  );
});
