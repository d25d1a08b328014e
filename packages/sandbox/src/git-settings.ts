// Reads the settings of git that hold for all repositories of a user. The workspace cannot change what is read here.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { followConfig, type GitSettings } from "./guard/repositories.ts";
import { findTool } from "./status/find-tool.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Of the user's environment, git needs nothing else for this. */
const passed =
  /^(?:XDG_CONFIG_HOME|GIT_CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+|PARAMETERS))$/;

/** Git knows where the settings of the system are. Conditions of included files depend on the repository, so they count always. */
export async function gitSettings(
  home: string,
  env: Environment,
  roots: readonly string[],
): Promise<GitSettings> {
  const program = findTool("git", env["PATH"], roots);
  const listed = program === undefined ? [] : await listedSettings(program, home, env);
  const places = [
    env["GIT_CONFIG_SYSTEM"] ?? "/etc/gitconfig",
    env["GIT_CONFIG_GLOBAL"] ?? join(home, ".gitconfig"),
    join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "git/config"),
    ...listed.flatMap(([origin]) => (origin.startsWith("file:") ? [origin.slice(5)] : [])),
  ];
  const { hooks, files } = followConfig([...new Set(places)]);
  const named = listed.flatMap(([, setting]) => /^core\.hookspath\n(.+)$/s.exec(setting)?.[1] ?? []);
  const atHome = (path: string) => (path.startsWith("~/") ? join(home, path.slice(2)) : path);
  return { hooks: [...new Set([...hooks, ...named].map(atHome))], files };
}

/** Each setting with the file that it is from. None if git fails. */
function listedSettings(
  program: string,
  home: string,
  env: Environment,
): Promise<readonly (readonly [origin: string, setting: string])[]> {
  const own = Object.entries(env).filter(([name]) => passed.test(name));
  const options = {
    // there is no repository, or one that no workspace is in
    cwd: "/",
    env: { ...Object.fromEntries(own), HOME: home, GIT_CEILING_DIRECTORIES: "/", LC_ALL: "C" },
    timeout: 5_000,
  };
  return new Promise((resolve) => {
    execFile(program, ["config", "--list", "--null", "--show-origin"], options, (error, stdout) => {
      const words = error === null ? stdout.split("\0") : [];
      resolve(
        words.flatMap((word, at) =>
          at % 2 === 0 && at + 1 < words.length ? [[word, words[at + 1] ?? ""]] : [],
        ),
      );
    });
  });
}
