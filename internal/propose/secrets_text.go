package propose

import (
	"regexp"
	"strings"
)

// secretWord matches a part of a name whose value is a secret.
const secretWord = `passw(?:or)?d|passphrase|passwd|secret|token|credential|api[-_]?key|access[-_]?key|private[-_]?key|secret[-_]?key|` +
	`signing[-_]?key|session[-_]?key|encryption[-_]?key|authorization|cookie`

// shortWord matches a whole word of such a name; inside longer words it is common.
const shortWord = `pass|pwd|salt|auth`

var (
	secretIn = regexp.MustCompile(`(?i)` + secretWord)
	shortIn  = regexp.MustCompile(`(?i)(?:^|[_.$-])(?:` + shortWord + `)$`)
	// harmless matches names that look like a secret's but are not.
	harmless = regexp.MustCompile(`(?i)^(?:(?:proxy|fastcgi|uwsgi|scgi|grpc|memcached)_pass|server_tokens|(?:proxy|fastcgi)_(?:cookie_\w+|ignore_headers|hide_header|pass_header))$`)
)

// secretName reports whether the value of a name looks like a secret.
func secretName(name string) bool {
	return (secretIn.MatchString(name) || shortIn.MatchString(name)) && !harmless.MatchString(name)
}

// A rule replaces text that looks like a secret; ${keep} of its match is kept.
type rule struct {
	form *regexp.Regexp
	with string
}

// rules are applied in order: a later rule would match only a part of what an
// earlier one matches.
var rules = []rule{
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z ]+-----.*?(?:-----END [A-Z ]+-----|$)`), removed},
	// user:password@ of an address, and of a DSN as go-sql-driver reads it.
	{regexp.MustCompile(`(?P<keep>[a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/'"]+@`), "${keep}" + removed + "@"},
	{regexp.MustCompile(`(?P<keep>[\w.%-]+:)[^\s'"]+(?P<at>@(?:tcp|unix|udp)?[(/])`), "${keep}" + removed + "${at}"},
	{regexp.MustCompile(`(?i)(?P<keep>\bidentified\s+(?:by|via|with)\s+)[^;\n]+`), "${keep}" + removed},
	{regexp.MustCompile(`(?i)(?P<keep>\b(?:proxy-)?authorization["']?\s*[:=]+\s*)[^\r\n,;]+`), "${keep}" + removed},
	{regexp.MustCompile(`(?i)(?P<keep>\bbearer\s+)[\w.~+/=-]{8,}`), "${keep}" + removed},
	{regexp.MustCompile(`(?i)(?P<keep>\b(?:set-)?cookie["']?\s*[:=]+\s*)[^\r\n]+`), "${keep}" + removed},
	// name = value, "name": "value", NAME=value, name => 'value'; not name = ?.
	{regexp.MustCompile(`(?i)(?P<keep>[\w.$-]*(?:` + secretWord + `)[\w-]*["'\x60]?\s*(?:=>|:=|[=:]|\blike\b)\s*)(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[^\s,;&)}\]?][^\s,;&)}\]]*)`), "${keep}" + removed},
	{regexp.MustCompile(`(?i)(?P<keep>(?:^|[\s;,&{(_])(?:` + shortWord + `)\s*=\s*)(?:"[^"]*"?|'[^']*'?|[^\s,;&)}\]]+)`), "${keep}" + removed},
	{regexp.MustCompile(`(?i)(?P<keep>--?(?:` + secretWord + `|pass)[= ])\S+`), "${keep}" + removed},
	// Tokens with a known prefix: JWT, and those of clouds and forges.
	{regexp.MustCompile(`\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?`), removed},
	{regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abprs]-[\w-]{10,}|\bsk-[\w-]{16,}|\bAIza[\w-]{30,}`), removed},
	// Hashes and keys: long hexadecimal, and crypt's.
	{regexp.MustCompile(`\b[0-9a-fA-F]{32,}\b`), removed},
	{regexp.MustCompile(`\$(?:2[abxy]|argon2\w*|[156y])\$[\w./$=,+-]{16,}`), removed},
}

// withoutSecrets replaces the parts of a text that look like secrets.
func withoutSecrets(text string) string {
	for _, r := range rules {
		text = r.form.ReplaceAllString(text, r.with)
	}
	return random.ReplaceAllStringFunc(text, func(s string) string {
		if mixed(s) {
			return removed
		}
		return s
	})
}

// random matches long words. mixed reports whether one has upper and lower case
// and digits, as random keys have and names do not.
var random = regexp.MustCompile(`[A-Za-z0-9+/_-]{40,}={0,2}`)

func mixed(s string) bool {
	return !strings.HasPrefix(s, "/") && // not a path
		strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyz") && strings.ContainsAny(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ContainsAny(s, "0123456789")
}

var sqlText = regexp.MustCompile(`'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.|"")*"?|\b[xX]'[0-9a-fA-F]*'?|\b0[xX][0-9a-fA-F]{9,}`)

// withoutTexts replaces the string literals of a statement, which are user data.
// Numbers are kept.
func withoutTexts(sql string) string { return sqlText.ReplaceAllString(sql, "'?'") }

// sqlStart matches the beginning of a statement inside a text.
var sqlStart = regexp.MustCompile(`(?i)\b(?:select\b.*\bfrom|insert\s+(?:ignore\s+)?into|replace\s+into|update\s+\S+\s+set|delete\s+from|create\s+user|set\s+password|grant)\b`)

// withoutStatementTexts removes secrets from a text for people, and the string
// literals from the first statement that it quotes on.
func withoutStatementTexts(text string) string {
	if at := sqlStart.FindStringIndex(text); at != nil {
		text = text[:at[0]] + withoutTexts(text[at[0]:])
	}
	return withoutSecrets(text)
}
