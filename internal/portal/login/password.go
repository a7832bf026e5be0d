package login

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// The cost of a password: 19 MiB and two passes, the least of OWASP's recommendations for
// argon2id (RFC 9106): about 30 ms.
const (
	memory  = 19 << 10 // KiB
	passes  = 2
	lanes   = 1
	saltLen = 16
	keyLen  = 32
)

// maxMemory and maxPasses bound what a kept hash may ask for.
const (
	maxMemory = 64 << 10
	maxPasses = 8
)

// hash is the kept form of a password (PHC string format).
func hash(password string) string {
	salt := make([]byte, saltLen)
	rand.Read(salt)
	key := argon2.IDKey([]byte(password), salt, passes, memory, lanes, keyLen)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memory, passes, lanes, base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))
}

// matches reports whether a password has a kept form. A form that is not one of hash never
// matches.
func matches(password, kept string) bool {
	parts := strings.Split(kept, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return false
	}
	var m, t uint32
	var p uint8
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &m, &t, &p); n != 3 || err != nil || m < 8 || m > maxMemory || t < 1 || t > maxPasses || p < 1 {
		return false
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false
	}
	key, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil || len(key) != keyLen {
		return false
	}
	return subtle.ConstantTimeCompare(argon2.IDKey([]byte(password), salt, t, m, p, keyLen), key) == 1
}

// Bounds of a password, in characters.
const (
	minPassword = 10
	maxPassword = 200
)

// goodPassword refuses passwords that are too short, too long, or the login itself.
func goodPassword(login, password string) error {
	n := utf8.RuneCountInString(password)
	if n < minPassword || n > maxPassword || strings.EqualFold(login, password) {
		return refused("password", "a password has %d to %d characters and is not the login", minPassword, maxPassword)
	}
	return nil
}
