package isucholar

import (
	"encoding/base64"
	"fmt"

	//lint:ignore SA1019 bcrypt is made of Blowfish, and the package bcrypt draws a salt of its own, so that its hashes differ each time
	"golang.org/x/crypto/blowfish"
)

// bcryptCost is the logarithm of the number of rounds.
const bcryptCost = 4

// bcryptText is the encoding of salts and hashes.
var bcryptText = base64.NewEncoding("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789").WithPadding(base64.NoPadding)

// bcryptHash returns the hash of a password with a given salt, as the app compares it.
func bcryptHash(password string, salt [16]byte) (string, error) {
	key := append([]byte(password), 0)
	c, err := blowfish.NewSaltedCipher(key, salt[:])
	if err != nil {
		return "", fmt.Errorf("hashing a password: %w", err)
	}
	for range 1 << bcryptCost {
		blowfish.ExpandKey(key, c)
		blowfish.ExpandKey(salt[:], c)
	}
	sum := []byte("OrpheanBeholderScryDoubt")
	for i := 0; i < len(sum); i += blowfish.BlockSize {
		for range 64 {
			c.Encrypt(sum[i:], sum[i:])
		}
	}
	const shown = 23 // of 24 bytes: the last one was never part of the text
	return fmt.Sprintf("$2a$%02d$%s%s", bcryptCost, bcryptText.EncodeToString(salt[:]),
		bcryptText.EncodeToString(sum[:shown])), nil
}
