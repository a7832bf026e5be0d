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
	// reader returns the unpacked stream and what frees it.
	reader(packed io.Reader) (io.Reader, func(), error)
}

// codecOf tells by the first bytes how a log is packed; nil means plain.
func codecOf(magic []byte) codec {
	switch {
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		return gzipCodec{}
	case bytes.HasPrefix(magic, []byte("\x28\xb5\x2f\xfd")):
		return zstdCodec{}
	case bytes.HasPrefix(magic, []byte("\xfd7zXZ\x00")):
		return strangeCodec("xz")
	case bytes.HasPrefix(magic, []byte("BZh")) && bytes.HasSuffix(magic[:min(8, len(magic))], []byte("1AY&")):
		return strangeCodec("bzip2")
	case bytes.HasPrefix(magic, []byte("\x04\x22\x4d\x18")):
		return strangeCodec("lz4")
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

// maxWindow bounds what a hostile frame can make the decoder allocate; it is
// the window of zstd --long=27, the largest that zstd itself takes unasked.
const maxWindow = 128 << 20

func (zstdCodec) reader(packed io.Reader) (io.Reader, func(), error) {
	z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, err
	}
	return z, z.Close, nil
}

// strangeCodec is a packing that is recognised but not read.
type strangeCodec string

func (c strangeCodec) name() string { return string(c) }

func (c strangeCodec) reader(io.Reader) (io.Reader, func(), error) {
	return nil, nil, &PackedError{Codec: string(c)}
}

// A PackedError says that a log is packed in a way that is not read here.
type PackedError struct{ Codec string }

func (e *PackedError) Error() string { return fmt.Sprintf("it is packed with %s", e.Codec) }

// Hints says what to do.
func (e *PackedError) Hints() []string {
	return []string{fmt.Sprintf("unpack it on the way: %s -dc FILE | iikanji … -", e.Codec)}
}
