// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "learn.h"

/*
 * What is a credential, or often holds one. These are not in the tree of a learning run, and
 * never in a profile that is learnt, unless --allow-secret names them.
 */

/* With a '/': these names one below the other, wherever they are. */
static const char *const names[] = {
	/* keys and passwords of tools */
	".ssh",
	".gnupg",
	".aws",
	".azure",
	".oci",
	".kube",
	".docker",
	".netrc",
	"_netrc",
	".git-credentials",
	".pgpass",
	".my.cnf",
	".mylogin.cnf",
	".npmrc",
	".yarnrc.yml",
	".pypirc",
	".vault-token",
	".terraformrc",
	".terraform.d",
	".boto",
	".s3cfg",
	".htpasswd",
	".password-store",
	".authinfo",
	".authinfo.gpg",
	".Xauthority",
	".ICEauthority",
	".config/gcloud",
	".config/gh",
	".config/hub",
	".config/glab-cli",
	".config/rclone",
	".config/op",
	".config/doctl",
	".config/heroku",
	".config/github-copilot",
	".config/sops",
	".config/pip/pip.conf",
	".pip/pip.conf",
	".config/git/credentials",
	".local/share/keyrings",
	".local/share/kwalletd",
	".config/keepassxc",
	".config/Bitwarden",
	".cargo/credentials",
	".cargo/credentials.toml",
	".gem/credentials",
	".m2/settings.xml",
	".m2/settings-security.xml",
	".gradle/gradle.properties",
	".subversion/auth",
	".bundle/config",
	".composer/auth.json",
	".config/containers/auth.json",
	".databrickscfg",
	".snowsql",
	".dbt/profiles.yml",
	".kaggle",
	".huggingface",
	".cache/huggingface/token",
	/* browsers and mail */
	".mozilla",
	".thunderbird",
	".config/google-chrome",
	".config/chromium",
	".config/BraveSoftware",
	".config/microsoft-edge",
	".config/Signal",
	".config/Slack",
	/* coding agents */
	".claude",
	".claude.json",
	".codex",
	".gemini",
	".cursor",
	".config/anthropic",
	".config/openai",
	/* workspaces */
	".env",
	".envrc",
	"credentials",
	"credentials.json",
	"credentials.toml",
	"credentials.yml",
	"secrets.json",
	"secrets.toml",
	"secrets.yml",
	"secrets.yaml",
	"token.txt",
	".token",
	".secrets",
	"client_secret.json",
	"service-account.json",
	"service_account.json",
	"kubeconfig",
	"terraform.tfstate",
	"id_rsa",
	"id_dsa",
	"id_ecdsa",
	"id_ed25519",
	"id_ecdsa_sk",
	"id_ed25519_sk",
	/* the system's */
	"etc/shadow",
	"etc/shadow-",
	"etc/gshadow",
	"etc/gshadow-",
	"etc/sudoers",
	"etc/sudoers.d",
	"etc/krb5.keytab",
	"etc/ssl/private",
	"etc/pki/tls/private",
	"etc/ipsec.secrets",
	"etc/NetworkManager/system-connections",
	"etc/wireguard",
	"etc/ppp",
	"etc/docker",
	"etc/kubernetes",
	"etc/letsencrypt",
	"etc/opasswd",
	"etc/security/opasswd",
	"var/lib/cloud",
	"var/lib/kubelet",
	"var/lib/sss",
	"run/secrets",
};
static const char *const endings[] = {"_history", ".p12", ".pfx",  ".jks", ".keystore",
				      ".kdbx",    ".kdb", ".ovpn", ".ppk"};
/* Templates that projects ship. */
static const char *const harmless[] = {".example", ".sample", ".template", ".dist", ".defaults"};

static bool ends_in(const char *name, size_t len, const char *ending)
{
	size_t tail = strlen(ending);

	return len > tail && strncmp(name + len - tail, ending, tail) == 0;
}

/* ".env.local", ".env.production" */
static bool is_env(const char *name, size_t len)
{
	if (len < 6 || strncmp(name, ".env.", 5) != 0)
		return false;
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (ends_in(name, len, harmless[i]))
			return false;
	return true;
}

/* The path up to its first `len` bytes, which end with a name. */
static bool is_name(const char *path, size_t len)
{
	const char *slash = memrchr(path, '/', len);
	const char *name = slash != NULL ? slash + 1 : path;
	size_t size = (size_t)(path + len - name);

	if (is_env(name, size) ||
	    (size > 15 && strncmp(name, "ssh_host_", 9) == 0 && ends_in(name, size, "_key")))
		return true;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (ends_in(name, size, endings[i]))
			return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t tail = strlen(names[i]);

		if (len > tail && path[len - tail - 1] == '/' &&
		    memcmp(path + len - tail, names[i], tail) == 0)
			return true;
	}
	return false;
}

bool learn_is_secret_name(const char *path)
{
	return is_name(path, strlen(path));
}

bool learn_is_secret(const char *path)
{
	for (size_t len = 1; path[0] == '/' && path[len - 1] != '\0'; len++)
		if ((path[len] == '/' || path[len] == '\0') && is_name(path, len))
			return true;
	return false;
}

bool learn_holds_key(int dir_fd, const char *name)
{
	char start[4096];
	size_t len = strlen(name);

	if (!ends_in(name, len, ".key") && !ends_in(name, len, ".pem"))
		return false;
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	/* who cannot read it cannot leak it either */
	if (fd < 0)
		return false;
	ssize_t got = read(fd, start, sizeof(start));
	close(fd);
	return got > 0 && memmem(start, (size_t)got, "PRIVATE KEY", 11) != NULL;
}
