// Opens the compiler on the sources. Its JavaScript API is called unstable, which an exactly pinned version is not.

import { API, type APIOptions, type Project } from "typescript/unstable/sync";

/** The sources as the compiler understands them. */
export interface Program {
  readonly project: Project;
  close(): void;
}

/** `options` are for tests, whose files exist in memory only. */
export function openProgram(config: string, options: APIOptions = {}): Program {
  const api = new API(options);
  const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects();
  if (project === undefined) throw new Error(`the compiler found no project: is ${config} there?`);
  return { project, close: () => api.close() };
}
