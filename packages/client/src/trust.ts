// The entry point for the settings of a workspace, and for the folders whose settings the user trusts.

export {
  type FolderTrust,
  type ItemDecision,
  type TrustedFolder,
  type TrustedFolders,
  trustedFolders,
} from "./trust/trusted-folders.ts";
export { type WorkspaceItem, type WorkspaceSettings, workspaceSettings } from "./trust/workspace-settings.ts";
