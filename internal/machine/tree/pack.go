package tree

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The stream of a folder is a list of its content, then for each regular file a part, its
// bytes unless they are left out, and its sum, and a part that ends it.
type part struct {
	Skipped bool
	End     bool
	Failed  string // the sender's error
}

type sum struct{ Sum [sha256.Size]byte }

const buffer = 1 << 20

// pack writes the stream of a folder. Files that have has with the same size and time are
// left out: only their sums are sent.
func pack(ctx context.Context, dir string, have Manifest, w io.Writer) error {
	all, err := list(dir)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s: %w", dir, fs.ErrNotExist)
	}
	if err != nil {
		return err
	}
	there := map[string]Entry{}
	for _, e := range have {
		there[e.Path] = e
	}
	out := bufio.NewWriterSize(w, buffer)
	enc := gob.NewEncoder(out)
	if err := enc.Encode(all); err != nil {
		return fmt.Errorf("sending the list of %s: %w", dir, err)
	}
	buf := make([]byte, buffer)
	for _, e := range all {
		if !e.Mode.IsRegular() {
			continue
		}
		old, known := there[e.Path]
		skip := known && old.Mode.IsRegular() && old.Size == e.Size && old.Time.Equal(e.Time)
		if err := packFile(ctx, filepath.Join(dir, e.Path), e, skip, enc, out, buf); err != nil {
			_ = enc.Encode(part{Failed: err.Error()}) // the receiver may be gone
			_ = out.Flush()
			return fmt.Errorf("sending %s: %w", e.Path, err)
		}
	}
	if err := enc.Encode(part{End: true}); err != nil {
		return fmt.Errorf("ending the stream of %s: %w", dir, err)
	}
	return out.Flush()
}

func packFile(ctx context.Context, path string, e Entry, skip bool, enc *gob.Encoder, out io.Writer, buf []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := enc.Encode(part{Skipped: skip}); err != nil {
		return err
	}
	to := io.Discard
	if !skip {
		to = out
	}
	digest := sha256.New()
	n, err := io.CopyBuffer(io.MultiWriter(to, digest), &until{ctx, io.LimitReader(f, e.Size)}, buf)
	if err == nil && n != e.Size {
		err = errors.New("it became shorter while it was read")
	}
	if err != nil {
		return err
	}
	return enc.Encode(sum{[sha256.Size]byte(digest.Sum(nil))})
}

// until is a reader that ends with a context.
type until struct {
	ctx context.Context
	r   io.Reader
}

func (u *until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// unpack makes a folder from the stream of another one, and returns its content with sums.
func unpack(ctx context.Context, dir string, r io.Reader) (Manifest, error) {
	in := bufio.NewReaderSize(&until{ctx, r}, buffer)
	dec := gob.NewDecoder(in)
	var all Manifest
	if err := dec.Decode(&all); err != nil {
		return nil, fmt.Errorf("receiving the list: %w", err)
	}
	if err := all.check(); err != nil {
		return nil, err
	}
	o := &owners{users: map[string]int{}, groups: map[string]int{}}
	if err := prepare(dir, all, o); err != nil {
		return nil, err
	}
	buf := make([]byte, buffer)
	for i := range all {
		if !all[i].Mode.IsRegular() {
			continue
		}
		if err := unpackFile(dir, &all[i], dec, in, o, buf); err != nil {
			return nil, fmt.Errorf("receiving %s: %w", all[i].Path, err)
		}
	}
	var end part
	if err := dec.Decode(&end); err != nil || !end.End {
		return nil, errors.Join(errors.New("the stream is cut"), err)
	}
	if err := finish(dir, all); err != nil {
		return nil, err
	}
	return all, nil
}

func unpackFile(dir string, e *Entry, dec *gob.Decoder, in io.Reader, o *owners, buf []byte) error {
	var p part
	if err := dec.Decode(&p); err != nil {
		return err
	}
	if p.Failed != "" || p.End {
		return fmt.Errorf("the sender gave up: %s", p.Failed)
	}
	path := filepath.Join(dir, e.Path)
	digest := sha256.New()
	var err error
	if p.Skipped {
		err = readBack(path, digest, buf)
	} else {
		err = writeFile(path, io.LimitReader(in, e.Size), *e, digest, buf)
	}
	if err != nil {
		return err
	}
	var s sum
	if err := dec.Decode(&s); err != nil {
		return err
	}
	if e.Sum = s.Sum; !bytes.Equal(digest.Sum(nil), s.Sum[:]) {
		_ = os.Remove(path) // the next try sends it again
		return errors.New("its bytes are not those of the sender")
	}
	return o.set(path, *e)
}

func readBack(path string, digest io.Writer, buf []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyBuffer(digest, onlyReader{f}, buf)
	return err
}

type onlyReader struct{ io.Reader }

func writeFile(path string, r io.Reader, e Entry, digest io.Writer, buf []byte) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.CopyBuffer(io.MultiWriter(onlyWriter{f}, digest), r, buf)
	if err == nil && n != e.Size {
		err = io.ErrUnexpectedEOF
	}
	return errors.Join(err, f.Close())
}

type onlyWriter struct{ io.Writer }
