import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestError } from "../../jsonrpc/errors.ts";
import { quotedPath } from "./file-error.ts";
import { parseFilePath } from "./file-path.ts";

function codeOf(path: unknown, platform = "linux"): number | "ok" {
  try {
    parseFilePath(path, platform);
    return "ok";
  } catch (error) {
    assert.ok(error instanceof RequestError);
    return error.code;
  }
}

function names(path: string, platform = "linux"): readonly string[] {
  return parseFilePath(path, platform).names;
}

test("a relative, empty, ~ or file: path is refused (N137, N138, N139, N140)", () => {
  for (const path of ["a/b", "", "~/x", "~", "file:///w/x", "FILE:///w/x", "./x", "../x", " /w/x"]) {
    assert.equal(codeOf(path), -32602, path);
  }
});

test("what is no string at all is refused", () => {
  for (const path of [undefined, null, 7, {}, ["/w"]]) assert.equal(codeOf(path), -32602);
});

test("the refusal of a relative path says what to do", () => {
  assert.throws(() => parseFilePath("src/a.ts", "linux"), {
    message: 'a path must be absolute, got "src/a.ts"; put the session\'s working directory in front',
  });
  assert.throws(() => parseFilePath("~/a.ts", "linux"), /~ is not expanded/);
  assert.throws(() => parseFilePath("file:///w/a.ts", "linux"), /must not be a URL.*without the scheme/);
});

test("parent directories are taken out of the text (N141, N142, N144)", () => {
  assert.deepEqual(names("/w/a/../b"), ["w", "b"]);
  assert.deepEqual(names("/w/../etc/passwd"), ["etc", "passwd"]);
  assert.deepEqual(names("/../../w/./x//y"), ["w", "x", "y"]);
  assert.deepEqual(names("/w/..ok"), ["w", "..ok"]);
  assert.deepEqual(names("/w/..."), ["w", "..."]);
});

test("what is encoded stays encoded (N173)", () => {
  assert.deepEqual(names("/w/%2e%2e/x"), ["w", "%2e%2e", "x"]);
});

test("NUL and half a surrogate pair are refused", () => {
  assert.equal(codeOf("/w/a\0b"), -32602);
  assert.equal(codeOf("/w/\ud800"), -32602);
});

test("a path of 5,000 characters is refused, and not echoed whole (N160)", () => {
  const long = `/w${"/abcd".repeat(1000)}`;
  assert.throws(
    () => parseFilePath(long, "linux"),
    (error: RequestError) =>
      error.code === -32602 && error.message.length < 500 && !("file" in Object(error.data)),
  );
  assert.equal(codeOf(`/${"a/".repeat(2047)}`), "ok");
  assert.equal(codeOf(`/${"a/".repeat(2048)}`), -32602);
});

test("a name of 256 bytes is refused, one of 255 is accepted (N161)", () => {
  assert.equal(codeOf(`/w/${"a".repeat(256)}`), -32602);
  assert.equal(codeOf(`/w/${"a".repeat(255)}`), "ok");
  assert.equal(codeOf(`/w/${"é".repeat(128)}`), -32602);
  assert.equal(codeOf(`/w/${"é".repeat(127)}`), "ok");
});

test("a path that can only be a directory is known as one", () => {
  for (const path of ["/w/", "/w/.", "/w/a/..", "/"])
    assert.equal(parseFilePath(path, "linux").directory, true, path);
  for (const path of ["/w", "/w/..ok", "/w/."]) {
    assert.equal(parseFilePath(path, "linux").directory, path === "/w/.", path);
  }
});

test("a name is shown escaped in messages (N162)", () => {
  assert.equal(quotedPath("/w/a\nb"), '"/w/a\\nb"');
  assert.equal(quotedPath("/w/\u001b[2J\u009b\u202egpj.exe"), '"/w/\\u001b[2J\\u009b\\u202egpj.exe"');
});

test("on Windows, other hosts, devices and short names are outside (N167, N168, N172)", () => {
  assert.deepEqual(names("\\\\host\\share\\x", "win32"), ["\\\\host", "share", "x"]);
  assert.equal(codeOf("\\\\?\\C:\\x", "win32"), -32061);
  assert.equal(codeOf("\\\\.\\PhysicalDrive0", "win32"), -32061);
  assert.equal(codeOf("//?/C:/x", "win32"), -32061);
  assert.equal(codeOf("C:\\w\\GIT~1\\hooks", "win32"), -32061);
});

test("on Windows, a path without its drive, device names, streams and cut ends are refused (N169, N170, N171, N175)", () => {
  const bad = ["C:rel", "\\w\\x", "C:\\w\\CON", "C:\\w\\con.txt", "C:\\w\\LPT1", "C:\\w\\x:stream"];
  for (const path of [...bad, "C:\\w\\x.", "C:\\w\\x ", "C:\\w\\a\nb", "C:\\w\\a?"]) {
    assert.equal(codeOf(path, "win32"), -32602, path);
  }
  assert.deepEqual(names("c:\\w/a\\..\\b", "win32"), ["c:", "w", "b"]);
  assert.deepEqual(names("C:\\..\\..\\w\\console.txt", "win32"), ["C:", "w", "console.txt"]);
});

test("elsewhere those are plain names (N167, N168, N169, N170, N171, N172, N175)", () => {
  for (const name of [
    "\\\\host\\share\\x",
    "\\\\?\\C:\\x",
    "C:rel",
    "CON",
    "x:stream",
    "GIT~1\\hooks",
    "x.",
    "x ",
  ]) {
    assert.deepEqual(names(`/w/${name}`), ["w", name]);
  }
});
