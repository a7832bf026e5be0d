package redact

import (
	"bytes"
	"regexp"
	"strings"
)

// redacted replaces a literal that may be a secret.
const redacted = "'(redacted)'"

// sqlSecretName matches names of columns, functions and clauses whose values are
// secrets.
var sqlSecretName = regexp.MustCompile(`(?i)passw|passwd|\bpwd\b|_pwd\b|\bpwd_|passphrase|secret|token|api_?key|access_?key|private_?key|encryption_?key|credential|` +
	`\bauth(entication|orization)?(_|\b)|identified\s+(by|with)|\bsalt\b|_salt\b|cookie|session_?(id|key|data)|\bsessions?\b|\botp\b|\bcvv\b|\bcvc\b|\bpin\b|_pin\b|` +
	`card_?num|\biban\b|\bssn\b|aes_(en|de)crypt|des_(en|de)crypt|\bencrypt\(|pgp_sym|crypt\(|\bmd5\(|\bsha[12]?\(`)

// secretValue matches literals that look like a secret wherever they are: tokens
// with known beginnings, hashes of passwords, and long random texts.
var secretValue = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}|\$(2[abxy]?|argon2[a-z]*|scrypt|pbkdf2[a-z0-9-]*|[156]|apr1)\$|\{(SSHA|SHA|MD5|CRYPT)[0-9]*\}|` +
	`\b(sk|pk|rk)_(live|test)_|\bsk-[A-Za-z0-9]|\bgh[pousr]_|\bxox[abprs]-|\bAKIA[0-9A-Z]{12}|\bAIza[0-9A-Za-z_-]{20}|-----BEGIN |Bearer |Basic [A-Za-z0-9+/]{8}`)

// longHex matches hashes and tokens in hexadecimal digits. Trace ids in comments look
// like them.
var longHex = regexp.MustCompile(`\b[0-9A-Fa-f]{32,}\b`)

// minRandom is the length from which a text of letters of both cases and digits,
// without spaces, is a random token.
const minRandom = 24

// Statement replaces the literals of a statement that may be secrets. If the
// statement names a secret (a column such as password or token, or a clause such
// as IDENTIFIED BY), these are all its literals and the values of its parameters.
// Otherwise they are those that look like a token, a hash or an address of e-mail.
func Statement(sql []byte) []byte {
	text := string(sql)
	found := piecesOf(text)
	all := namesSecret(text, found)
	var out []byte
	last := 0
	replace := func(p piece, by string) {
		out = append(append(out, text[last:p.from]...), by...)
		last = p.to
	}
	for _, p := range found {
		literal := sql[p.from:p.to]
		switch {
		case p.kind == literalString && (all || looksSecret(literal)):
			replace(p, redacted)
		case p.kind == literalComment && (all && hasValues(literal) || secretValue.Match(literal) || hasValues(literal) && looksSecret(literal)):
			replace(p, "/* (redacted) */")
		case p.kind == literalNumber && all:
			replace(p, "0")
		}
	}
	return append(out, text[last:]...)
}

// namesSecret reports whether a statement names a secret outside of its literals.
func namesSecret(sql string, literals []piece) bool {
	names := make([]byte, 0, len(sql))
	last := 0
	for _, p := range literals {
		names = append(append(names, sql[last:p.from]...), ' ')
		last = p.to
	}
	return sqlSecretName.Match(append(names, sql[last:]...))
}

// hasValues reports whether a comment holds the values of a statement's parameters,
// as the readers of traces and of PostgreSQL's logs append them.
func hasValues(comment []byte) bool {
	return bytes.HasPrefix(comment, []byte("/* args: ")) || bytes.HasPrefix(comment, []byte("/* parameters: "))
}

// looksSecret reports whether a literal looks like a secret.
func looksSecret(text []byte) bool {
	if secretValue.Match(text) || longHex.Match(text) {
		return true
	}
	if Text(string(text)) != string(text) { // as a URL with a token, an address of e-mail
		return true
	}
	for _, word := range bytes.FieldsFunc(text, func(r rune) bool { return r <= ' ' || bytes.ContainsRune([]byte(`'"(),;:=/[]{}<>`), r) }) {
		if len(word) < minRandom {
			continue
		}
		digits, small, large := 0, 0, 0
		for _, c := range word {
			switch {
			case c >= '0' && c <= '9':
				digits++
			case c >= 'a' && c <= 'z':
				small++
			case c >= 'A' && c <= 'Z':
				large++
			}
		}
		if digits >= 2 && small >= 4 && large >= 4 {
			return true
		}
	}
	return false
}

// minNumber is the number of digits from which a number may be that of a telephone,
// a card or an account.
const minNumber = 9

// literals replaces all string literals of a statement, the values of its
// parameters, long numbers, and what looks like a secret in the rest.
func literals(sql string) string { return Text(sqlLiterals(sql)) }

// sqlLiterals replaces the string literals of a statement, which are data of users,
// and long numbers.
func sqlLiterals(sql string) string {
	var out strings.Builder
	last := 0
	for _, p := range piecesOf(sql) {
		text, by := []byte(sql[p.from:p.to]), ""
		switch {
		case p.kind == literalString, p.kind == literalNumber && digitsOf(text) >= minNumber:
			by = "'?'"
		case p.kind == literalComment && hasValues(text):
			by = "/* (redacted) */"
		default:
			continue
		}
		out.WriteString(sql[last:p.from] + by)
		last = p.to
	}
	return out.String() + sql[last:]
}

// digitsOf counts the digits of a number, decimal or hexadecimal.
func digitsOf(number []byte) (n int) {
	if len(number) > 2 && (number[1] == 'x' || number[1] == 'X') {
		return len(number) - 2
	}
	for _, c := range number {
		if isDigit(c) {
			n++
		}
	}
	return n
}
