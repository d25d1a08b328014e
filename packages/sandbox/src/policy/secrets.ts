// The files and folders that commands cannot read unless their owner says so. docs/sandbox.md shows this table.

import { isAbsolute, join } from "node:path";

/** Secrets by kind. Relative paths are below home. */
export const secrets: Readonly<Record<string, readonly string[]>> = {
  "keys and certificates": [
    ".ssh",
    ".gnupg",
    ".pki",
    ".password-store",
    ".local/share/keyrings",
    ".1password",
    ".config/op",
    ".config/Bitwarden CLI",
    ".config/sops",
    ".config/age",
  ],
  passwords: [".netrc", ".git-credentials", ".config/git/credentials", ".pgpass", ".my.cnf", ".mylogin.cnf"],
  "cloud accounts": [
    ".aws",
    ".azure",
    ".config/gcloud",
    ".kube",
    ".config/doctl",
    ".config/rclone",
    ".s3cfg",
    ".boto",
    ".fly",
    ".config/heroku",
    ".config/.wrangler",
    ".vault-token",
    ".terraformrc",
    ".terraform.d/credentials.tfrc.json",
    ".databrickscfg",
    ".oci",
    ".aliyun",
    ".config/hcloud",
    ".config/scw",
    ".pulumi/credentials.json",
    ".config/configstore",
    ".config/netlify",
    ".local/share/com.vercel.cli",
    ".supabase",
    ".config/stripe",
    ".cloudflared",
    ".config/ngrok",
  ],
  "containers and virtual machines": [
    ".docker/run",
    ".docker/desktop",
    ".colima",
    ".lima",
    ".rd",
    ".minikube",
  ],
  "accounts of code hosts and registries": [
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".docker/config.json",
    ".config/containers/auth.json",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".nuget/NuGet/NuGet.Config",
    ".cache/huggingface/token",
    ".huggingface",
    ".config/pypoetry/auth.toml",
    ".config/dart",
    ".sbt/.credentials",
    ".ivy2/.credentials",
    ".kaggle",
    ".sentryclirc",
  ],
  "browsers, mail and chats": [
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    "snap/firefox",
    "snap/chromium",
    ".var/app",
    ".config/Slack",
    ".config/discord",
    ".config/Signal",
    ".local/share/TelegramDesktop",
  ],
  wallets: [".bitcoin", ".ethereum", ".electrum", ".config/solana"],
  "agents and editors": [
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".qwen",
    ".config/goose",
    ".local/share/goose",
    ".config/opencode",
    ".local/share/opencode",
    ".copilot",
    ".config/github-copilot",
    ".cline",
    ".pi",
    ".kimi",
    ".vibe",
    ".augment",
    ".junie",
    ".factory",
    ".cursor",
    ".config/Cursor",
    ".config/Code",
    ".codeium",
    ".continue",
    ".aider.conf.yml",
  ],
  "shell histories": [
    ".bash_history",
    ".zsh_history",
    ".local/share/fish",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".rediscli_history",
  ],
  Parley: [".config/parley", ".local/share/parley", ".local/state/parley"],
  "the system": [
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/var/lib/docker",
    "/var/lib/containerd",
  ],
};

type Environment = Readonly<Record<string, string | undefined>>;

/** The absolute paths of all secrets, with the folders that the environment moves elsewhere. */
export function secretPaths(home: string, env: Environment): readonly string[] {
  const listed = Object.values(secrets).flat();
  const fixed = listed.map((path) => (isAbsolute(path) ? path : join(home, path)));
  return [...fixed, ...movedFolders(listed, env)];
}

/** The user may keep config, data and state in other places than below home. */
function movedFolders(listed: readonly string[], env: Environment): string[] {
  const moved = [
    [env["XDG_CONFIG_HOME"], ".config/"],
    [env["XDG_DATA_HOME"], ".local/share/"],
    [env["XDG_STATE_HOME"], ".local/state/"],
    [env["XDG_CACHE_HOME"], ".cache/"],
  ] as const;
  const paths = moved.flatMap(([folder, prefix]) =>
    folder === undefined || !isAbsolute(folder)
      ? []
      : listed
          .filter((path) => path.startsWith(prefix))
          .map((path) => join(folder, path.slice(prefix.length))),
  );
  const own = ["PARLEY_HOME", "GNUPGHOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "DOCKER_CONFIG", "KUBECONFIG"];
  return [...paths, ...own.flatMap((name) => (isAbsolute(env[name] ?? "") ? [env[name] ?? ""] : []))];
}
