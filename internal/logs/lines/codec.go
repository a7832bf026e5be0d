package lines

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A codec unpacks a stream.
type codec interface {
	name() string
	// reader returns the unpacked stream and a function that frees it.
	reader(packed io.Reader) (io.Reader, func(), error)
}

// codecOf recognises how a log is packed by its first bytes; nil means plain.
func codecOf(magic []byte) codec {
	switch {
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		return gzipCodec{}
	case bytes.HasPrefix(magic, []byte("\x28\xb5\x2f\xfd")):
		return zstdCodec{}
	case bytes.HasPrefix(magic, []byte("\xfd7zXZ\x00")):
		return unreadCodec("xz")
	case bytes.HasPrefix(magic, []byte("BZh")) && bytes.HasSuffix(magic[:min(8, len(magic))], []byte("1AY&")):
		return unreadCodec("bzip2")
	case bytes.HasPrefix(magic, []byte("\x04\x22\x4d\x18")):
		return unreadCodec("lz4")
	}
	return nil
}

type gzipCodec struct{}

func (gzipCodec) name() string { return "gzip" }

func (gzipCodec) reader(packed io.Reader) (io.Reader, func(), error) {
	z, err := gzip.NewReader(packed)
	if err != nil {
		return nil, nil, err
	}
	return z, func() { z.Close() }, nil
}

type zstdCodec struct{}

func (zstdCodec) name() string { return "zstd" }

// maxWindow bounds the memory that a hostile frame can make the decoder
// allocate. It is the window of zstd --long=27, the largest that the zstd
// command accepts by default.
const maxWindow = 128 << 20

func (zstdCodec) reader(packed io.Reader) (io.Reader, func(), error) {
	z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, err
	}
	return z, z.Close, nil
}

// unreadCodec is a compression that is recognised but not supported.
type unreadCodec string

func (c unreadCodec) name() string { return string(c) }

func (c unreadCodec) reader(io.Reader) (io.Reader, func(), error) {
	return nil, nil, &PackedError{Codec: string(c)}
}

// A PackedError reports a log in an unsupported compression.
type PackedError struct{ Codec string }

func (e *PackedError) Error() string { return fmt.Sprintf("it is packed with %s", e.Codec) }

// Hints lists remedies.
func (e *PackedError) Hints() []string {
	return []string{fmt.Sprintf("unpack it first: %s -dc FILE | iikanji … -", e.Codec)}
}
