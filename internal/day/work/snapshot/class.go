package snapshot

import (
	"bytes"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/iikanji/iikanji/internal/day/work/state"
)

// Limits of the content that is kept and read.
const (
	MaxText = 256 << 10 // a longer file is known by its digest
	maxRead = 16 << 20  // a longer one by its size and time
)

// secretName matches names whose values are digests.
var secretName = regexp.MustCompile(`(?i)passw|passphrase|secret|token|credential|auth|(?:api|access|private|secret|signing|session|encryption|fastopen)[-_]?key|cookie`)

// closed are folders of which no content is kept.
var closed = []string{"/etc/ssl/private/", "/etc/letsencrypt/", "/etc/pki/", "/etc/sudoers.d/", "/etc/security/opasswd"}

// keyNames are the endings of keys, certificates, stores of keys and dumps.
var keyNames = []string{".key", ".pem", ".crt", ".cer", ".der", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".gpg", ".ppk", ".dump", ".sql.gz", ".sql.zst", ".sql.xz", ".sql.bz2"}

// accountNames are files with accounts and their passwords.
var accountNames = map[string]bool{"shadow": true, "shadow-": true, "gshadow": true, "gshadow-": true, "debian.cnf": true, ".my.cnf": true, ".netrc": true, ".pgpass": true,
	"krb5.keytab": true, ".htpasswd": true, ".git-credentials": true, "opasswd": true, "id_rsa": true, "id_dsa": true, "id_ecdsa": true, "id_ed25519": true,
	"machine-id": true, "authorized_keys": true, "credentials": true}

// secretPath reports whether a file is a key, a certificate, an account file or a dump by
// its name: its content is never kept.
func secretPath(name string) bool {
	for _, dir := range closed {
		if strings.HasPrefix(name, dir) || name == strings.TrimSuffix(dir, "/") {
			return true
		}
	}
	base := strings.ToLower(path.Base(name))
	if accountNames[base] || strings.HasPrefix(base, "ssh_host_") && !strings.HasSuffix(base, ".pub") {
		return true
	}
	for _, end := range keyNames {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	return false
}

var (
	keyBlock  = []byte("-----BEGIN ")
	dumpHeads = [][]byte{[]byte("-- MySQL dump"), []byte("-- MariaDB dump"), []byte("/*M!999999"), []byte("-- PostgreSQL database dump")}
)

// classOf decides how much of a file is kept, from its content.
func classOf(name string, content []byte) state.Class {
	switch {
	case secretPath(name), bytes.Contains(content, keyBlock), isDump(content):
		return state.Secret
	case len(content) > MaxText, bytes.IndexByte(content, 0) >= 0, !utf8.Valid(content):
		return state.Digest
	}
	return state.Text
}

// isDump reports whether a text is the dump of a database with rows: rows may be data of
// people. A dump of definitions only is a schema.
func isDump(content []byte) bool {
	head := content[:min(len(content), 200)]
	for _, h := range dumpHeads {
		if bytes.Contains(head, h) {
			return bytes.Contains(content, []byte("INSERT INTO")) || bytes.Contains(content, []byte("\nCOPY "))
		}
	}
	return false
}

// sourceEnds are the endings of files with source or settings. Other files of a source
// folder are often written by the site itself: pictures, logs, data.
var sourceEnds = map[string]bool{".go": true, ".mod": true, ".sum": true, ".rb": true, ".ru": true, ".erb": true, ".rake": true, ".py": true, ".js": true, ".mjs": true, ".cjs": true,
	".ts": true, ".tsx": true, ".jsx": true, ".php": true, ".pl": true, ".pm": true, ".psgi": true, ".rs": true, ".java": true, ".kt": true, ".scala": true, ".ex": true,
	".exs": true, ".c": true, ".h": true, ".cc": true, ".cpp": true, ".lua": true, ".sql": true, ".sh": true, ".html": true, ".htm": true, ".tmpl": true, ".tpl": true, ".twig": true,
	".ejs": true, ".haml": true, ".slim": true, ".css": true, ".toml": true, ".yaml": true, ".yml": true, ".json": true, ".lock": true, ".conf": true, ".cnf": true, ".ini": true,
	".env": true, ".properties": true, ".xml": true, ".gradle": true, ".prisma": true, ".proto": true, ".graphql": true, ".service": true, ".d": true}

// sourceNames are files of source without such an ending.
var sourceNames = map[string]bool{"Makefile": true, "Dockerfile": true, "Gemfile": true, "Procfile": true, "Rakefile": true, "cpanfile": true, "Pipfile": true, "env": true,
	"requirements.txt": true, "build.sbt": true}

// sourceSkips are folders below source that are made by tools, or by the site.
var sourceSkips = map[string]bool{".git": true, "node_modules": true, "__pycache__": true, ".venv": true, "venv": true, "target": true, "tmp": true, "log": true, "logs": true,
	".bundle": true, "vendor": true, ".cache": true, "dist": true, ".idea": true, ".vscode": true}

// isSource reports whether a file of a source folder is source or settings.
func isSource(name string) bool {
	base := path.Base(name)
	return sourceEnds[strings.ToLower(path.Ext(base))] || sourceNames[base] || strings.HasPrefix(base, ".env")
}
