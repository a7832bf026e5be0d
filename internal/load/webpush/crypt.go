package webpush

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
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

// MaxMessage is the size of a message that every push service takes (RFC 8030, 7.2), and of a
// record.
const MaxMessage = 4096

// MaxText is how long a text may be: a message has its header, a delimiter and a tag beside it.
const MaxText = MaxMessage - headLength - 1 - 16

// Open returns the text of a message in one record of aes128gcm (RFC 8188), whose keys are
// agreed as RFC 8291 says.
func Open(message []byte, key *ecdh.PrivateKey, auth []byte) ([]byte, error) {
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
	aead, nonce, err := cipherOf(secret, auth, salt, info)
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

// cipherOf derives the cipher of a message and its nonce (RFC 8291, 3.4).
func cipherOf(secret, auth, salt, info []byte) (aead cipher.AEAD, nonce []byte, err error) {
	ikm, err := hkdf.Key(sha256.New, secret, auth, string(info), 32)
	if err != nil {
		return nil, nil, err
	}
	cek, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, nil, err
	}
	if nonce, err = hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: nonce\x00", 12); err != nil {
		return nil, nil, err
	}
	block, err := aes.NewCipher(cek)
	if err != nil {
		return nil, nil, err
	}
	aead, err = cipher.NewGCM(block)
	return aead, nonce, err
}

// Seal encrypts a text of at most MaxText bytes for a browser: the point of its key and its
// secret are what its subscription has.
func Seal(text, point, auth []byte) ([]byte, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("a text of %d bytes, at most %d are sent", len(text), MaxText)
	}
	reader, err := ecdh.P256().NewPublicKey(point)
	if err != nil {
		return nil, fmt.Errorf("reading the browser's key: %w", err)
	}
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	secret, err := own.ECDH(reader)
	if err != nil {
		return nil, fmt.Errorf("agreeing on a key: %w", err)
	}
	salt := make([]byte, saltLength)
	rand.Read(salt)
	return seal(text, secret, auth, salt, point, own.PublicKey().Bytes())
}

// seal encrypts one record with a secret.
func seal(text, secret, auth, salt, reader, sender []byte) ([]byte, error) {
	aead, nonce, err := cipherOf(secret, auth, salt, bytes.Join([][]byte{[]byte("WebPush: info\x00"), reader, sender}, nil))
	if err != nil {
		return nil, err
	}
	out := binary.BigEndian.AppendUint32(bytes.Clone(salt), MaxMessage)
	out = append(append(out, byte(len(sender))), sender...)
	return aead.Seal(out, nonce, append(bytes.Clone(text), 2), nil), nil
}
