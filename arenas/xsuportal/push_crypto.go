package xsuportal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// Lengths of the header of an encrypted message (RFC 8188, 2.1): salt, size of a record,
// length of the key's name, and the key itself, a point of P-256.
const (
	saltLength  = 16
	sizeLength  = 4
	pointLength = 65
	headLength  = saltLength + sizeLength + 1 + pointLength
)

// decrypt returns the text of a message in one record of aes128gcm (RFC 8188), whose keys are
// agreed as RFC 8291 says.
func decrypt(message []byte, key *ecdh.PrivateKey, auth []byte) ([]byte, error) {
	if len(message) < headLength {
		return nil, fmt.Errorf("%d bytes are no message", len(message))
	}
	salt, rest := message[:saltLength], message[saltLength:]
	size := binary.BigEndian.Uint32(rest)
	if rest[sizeLength] != pointLength {
		return nil, fmt.Errorf("a key of %d bytes, want %d", rest[sizeLength], pointLength)
	}
	point, record := rest[sizeLength+1:sizeLength+1+pointLength], rest[sizeLength+1+pointLength:]
	if size < 18 || uint64(len(record)) > uint64(size) {
		return nil, fmt.Errorf("a record of %d bytes, where the size of records is %d", len(record), size)
	}
	sender, err := ecdh.P256().NewPublicKey(point)
	if err != nil {
		return nil, fmt.Errorf("reading the sender's key: %w", err)
	}
	secret, err := key.ECDH(sender)
	if err != nil {
		return nil, fmt.Errorf("agreeing on a key: %w", err)
	}
	info := bytes.Join([][]byte{[]byte("WebPush: info\x00"), key.PublicKey().Bytes(), point}, nil)
	text, err := open(record, secret, auth, salt, info)
	if short := bytes.TrimLeft(secret, "\x00"); err != nil && len(short) < len(secret) {
		// Older libraries for Go drop the zeros at the begin of the secret.
		text, err = open(record, short, auth, salt, info)
	}
	return text, err
}

// open decrypts the last record of a message.
func open(record, secret, auth, salt, info []byte) ([]byte, error) {
	ikm, err := hkdf.Key(sha256.New, secret, auth, string(info), 32)
	if err != nil {
		return nil, err
	}
	cek, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(cek)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	padded, err := aead.Open(nil, nonce, record, nil)
	if err != nil {
		return nil, err
	}
	padded = bytes.TrimRight(padded, "\x00")
	if len(padded) == 0 || padded[len(padded)-1] != 2 {
		return nil, errors.New("the record is not the last one")
	}
	return padded[:len(padded)-1], nil
}
