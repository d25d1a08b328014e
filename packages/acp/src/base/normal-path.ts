// Writes absolute paths in one form, so that they can be compared. It looks at the words only, never at a file system.

/**
 * The path without repeated and trailing separators, `.` and `..`: "/ws/./a/../" becomes "/ws". Paths of Windows get
 * backslashes and an upper-case drive. A path that is not absolute stays as it is.
 */
export function normalPath(path: string): string {
  const [, drive, share] = /^(?:([A-Za-z]:)[\\/]|(\\\\[^\\/]+[\\/]+[^\\/]+))/.exec(path) ?? [];
  if (drive !== undefined) return `${drive.toUpperCase()}\\${parts(path.slice(2), /[\\/]+/).join("\\")}`;
  if (share !== undefined) {
    const root = `\\\\${parts(share, /[\\/]+/).join("\\")}`;
    return [root, ...parts(path.slice(share.length), /[\\/]+/)].join("\\");
  }
  return path.startsWith("/") ? `/${parts(path, /\/+/).join("/")}` : path;
}

function parts(path: string, separator: RegExp): string[] {
  const kept: string[] = [];
  for (const part of path.split(separator)) {
    if (part === "..") kept.pop();
    else if (part !== "" && part !== ".") kept.push(part);
  }
  return kept;
}
