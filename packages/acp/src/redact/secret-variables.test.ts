import assert from "node:assert/strict";
import { test } from "node:test";
import { isSecretVariable } from "@parley/acp/internal/redact";

const at = (scheme: string) => `${scheme}://me:${"hunter2"}@db.example/x`;

const secrets: readonly (readonly [name: string, value: string])[] = [
  ["ANTHROPIC_API_KEY", "abc"],
  ["AWS_SECRET_ACCESS_KEY", "abc"],
  ["AWS_SESSION_TOKEN", "abc"],
  ["GH_TOKEN", "abc"],
  ["NPM_TOKEN", "abc"],
  ["GITLAB_PAT", "abc"],
  ["PGPASSWORD", "abc"],
  ["DB_PASS", "abc"],
  ["GOOGLE_APPLICATION_CREDENTIALS", "/home/me/key.json"],
  ["REGISTRY_AUTH", "abc"],
  ["GPG_PASSPHRASE", "abc"],
  ["DATABASE_URL", at("postgres")],
  ["SECRET_KEY_BASE", "abc"],
  ["SSHPASS", "abc"],
  ["SENTRY_DSN", "https://abc@sentry.example/1"],
  ["SLACK_WEBHOOK_URL", "https://hooks.example/T0/B0/x"],
  ["STRIPE_SK", "abc"],
  ["TOKEN_GH", "abc"],
  ["RESTIC_REPOSITORY", `rest:${at("https")}`],
  ["REDIS_URL", "redis://:hunter2@cache.example:6379"],
  ["MONGO_URI", at("mongodb+srv")],
  ["MYSQL_PWD", "abc"],
  ["JWT", "abc"],
  ["COOKIE", "a=b"],
  ["BW_SESSION", "abc"],
  ["OP_SESSION_my", "abc"],
  ["GITHUB_TOKEN_2", "abc"],
  ["API_KEY_PROD", "abc"],
  ["HTTP_PROXY", at("http")],
  ["PIP_INDEX_URL", at("https")],
  ["GIT_CONFIG_VALUE_0", "Authorization: Basic aGk6aG8="],
  ["AZURE_STORAGE_CONNECTION_STRING", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=abc"],
  ["KUBE_BEARER", "abc"],
  ["MY_SETTINGS", `ghp_${"a1".repeat(18)}`],
  ["DEPLOY", "-----BEGIN OPENSSH PRIVATE KEY-----\nabc"],
  ["npm_config_//registry.example/:_authToken", "abc"],
  ["apiKey", "abc"],
];

const harmless: readonly (readonly [name: string, value: string])[] = [
  ["PATH", "/home/me/bin:/usr/bin"],
  ["HOME", "/home/me"],
  ["PWD", "/home/me/project"],
  ["OLDPWD", "/home/me"],
  ["LANG", "en_GB.UTF-8"],
  ["TERM", "xterm-256color"],
  ["EDITOR", "vim"],
  ["SHELL", "/bin/bash"],
  ["XDG_SESSION_ID", "2"],
  ["XDG_SESSION_TYPE", "wayland"],
  ["DESKTOP_SESSION", "gnome"],
  ["KEYBOARD", "de"],
  ["MONKEY", "george"],
  ["KEYMAP", "dvorak"],
  ["HOTKEYS", "vi"],
  ["PASSENGER_COUNT", "4"],
  ["BYPASS_CACHE", "1"],
  ["AUTHOR", "me"],
  ["GIT_AUTHOR_NAME", "Me"],
  ["TOKENIZERS_PARALLELISM", "false"],
  ["CLAUDE_CODE_MAX_OUTPUT_TOKENS", "4096"],
  ["MAX_TOKEN", "4096"],
  ["SSH_KEY_PATH", "/home/me/.ssh/id"],
  ["AWS_ACCESS_KEY_ID", "AK"],
  ["POSTGRES_PASSWORD_FILE", "/run/secrets/pg"],
  ["OAUTH_TOKEN_URL", "https://login.example/token"],
  ["HTTPS_PROXY", "http://proxy.example:3128"],
  ["PIP_INDEX_URL", "https://pypi.example/simple"],
  ["GIT_REMOTE", "ssh://git@github.example/a/b"],
  ["LS_COLORS", "di=01;34:ln=01;36:*.tar=01;31"],
  ["npm_config_cache", "/home/me/.npm"],
  ["npm_config_user_agent", "npm/10.9.0 node/v24.0.0 linux x64"],
  ["npm_config_registry", "https://packages.example.com/"],
  ["npm_config_auth_type", "web"],
  ["npm_lifecycle_event", "test"],
  ["NODE_OPTIONS", "--max-old-space-size=4096"],
];

test("a variable with a secret is recognised by words in its name, and by its value", () => {
  assert.deepEqual(
    secrets.filter(([name, value]) => !isSecretVariable(name, value)),
    [],
  );
});

test("ordinary variables are not taken for secrets", () => {
  assert.deepEqual(
    harmless.filter(([name, value]) => isSecretVariable(name, value)),
    [],
  );
});
