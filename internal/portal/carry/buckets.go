package carry

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// bucket is a bucket of keys, made if it is not there.
func (j *jetStream) bucket(ctx context.Context, b Bucket) (jetstream.KeyValue, error) {
	j.mu.Lock()
	kv := j.buckets[b]
	j.mu.Unlock()
	if kv != nil {
		return kv, nil
	}
	kv, err := j.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: string(b), TTL: ttl(b, j.fast), Storage: jetstream.MemoryStorage, Replicas: j.copies})
	if err == nil && j.copies > 1 {
		kv, err = j.consistent(ctx, b)
	}
	if err != nil {
		return nil, fmt.Errorf("making the bucket %s: %w", b, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.buckets[b] = kv
	return kv, nil
}

// bucketStream is the stream of a bucket.
func bucketStream(b Bucket) string { return "KV_" + string(b) }

// consistent lets the leader of a bucket's copies answer reads: another copy may not have the latest
// write yet.
func (j *jetStream) consistent(ctx context.Context, b Bucket) (jetstream.KeyValue, error) {
	s, err := j.js.Stream(ctx, bucketStream(b))
	if err != nil {
		return nil, err
	}
	if c := s.CachedInfo().Config; c.AllowDirect {
		c.AllowDirect = false
		if _, err := j.js.UpdateStream(ctx, c); err != nil {
			return nil, err
		}
	}
	return j.js.KeyValue(ctx, string(b))
}

// gone reports whether an error is that of a deleted bucket.
func gone(err error) bool {
	return errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrStreamNotFound) ||
		errors.Is(err, jetstream.ErrBucketNotFound)
}

// in runs do on a bucket, once more if it was deleted.
func (j *jetStream) in(ctx context.Context, b Bucket, do func(jetstream.KeyValue) error) error {
	kv, err := j.bucket(ctx, b)
	if err != nil {
		return err
	}
	if err = do(kv); !gone(err) {
		return err
	}
	j.forget()
	if kv, err = j.bucket(ctx, b); err != nil {
		return err
	}
	return do(kv)
}

// Put implements Carrier.
func (j *jetStream) Put(ctx context.Context, b Bucket, key string, value []byte) error {
	return j.in(ctx, b, func(kv jetstream.KeyValue) error {
		if _, err := kv.Put(ctx, key, value); err != nil {
			return fmt.Errorf("writing the key %s: %w", key, err)
		}
		return nil
	})
}

// Get implements Carrier.
func (j *jetStream) Get(ctx context.Context, b Bucket, key string) (value []byte, revision uint64, err error) {
	err = j.in(ctx, b, func(kv jetstream.KeyValue) error {
		e, err := kv.Get(ctx, key)
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			return ErrNoKey
		case err != nil:
			return fmt.Errorf("reading the key %s: %w", key, err)
		}
		value, revision = e.Value(), e.Revision()
		return nil
	})
	return value, revision, err
}

// Swap implements Carrier.
func (j *jetStream) Swap(ctx context.Context, b Bucket, key string, value []byte, revision uint64) (next uint64, err error) {
	err = j.in(ctx, b, func(kv jetstream.KeyValue) (err error) {
		if revision == 0 {
			next, err = kv.Create(ctx, key, value)
		} else {
			next, err = kv.Update(ctx, key, value, revision)
		}
		if wrong := (*jetstream.APIError)(nil); errors.Is(err, jetstream.ErrKeyExists) || errors.As(err, &wrong) && wrong.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
			return ErrNoKey
		}
		if err != nil {
			return fmt.Errorf("swapping the key %s: %w", key, err)
		}
		return nil
	})
	return next, err
}

// Delete implements Carrier.
func (j *jetStream) Delete(ctx context.Context, b Bucket, key string) error {
	return j.in(ctx, b, func(kv jetstream.KeyValue) error {
		if err := kv.Purge(ctx, key); err != nil {
			return fmt.Errorf("deleting the key %s: %w", key, err)
		}
		return nil
	})
}

// List implements Carrier. The names of the keys are asked of the stream: a consumer would be made
// for each list, and may read a copy without the latest writes.
func (j *jetStream) List(ctx context.Context, b Bucket) (out map[string][]byte, err error) {
	err = j.in(ctx, b, func(kv jetstream.KeyValue) error {
		out = map[string][]byte{}
		s, err := j.js.Stream(ctx, bucketStream(b))
		if err != nil {
			return fmt.Errorf("listing the bucket %s: %w", b, err)
		}
		info, err := s.Info(ctx, jetstream.WithSubjectFilter(">"))
		if err != nil {
			return fmt.Errorf("listing the bucket %s: %w", b, err)
		}
		for subject := range info.State.Subjects {
			key := strings.TrimPrefix(subject, "$KV."+string(b)+".")
			if e, err := kv.Get(ctx, key); err == nil { // of a deleted key a mark is left
				out[key] = e.Value()
			}
		}
		return nil
	})
	return out, err
}
