// Paths of a workspace that no program may touch without approval, with or without a sandbox.

export { isProtectedPath } from "./paths/protected-paths.ts";
