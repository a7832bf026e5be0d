package carry

import (
	"context"
	"errors"
	"time"
)

// A Stream is a named sequence of messages.
type Stream string

const (
	// Tasks are offers of jobs, a work queue. Subject: iik.task.POOL.KIND.
	Tasks Stream = "TASKS"
	// Events are the events of rounds. Subject: iik.ev.ROUND.KIND.
	Events Stream = "EVENTS"
	// Progress is of running jobs, in memory. Subject: iik.prog.ROUND.TEAM.JOB.
	Progress Stream = "PROGRESS"
)

// prefixes are the subjects of the streams.
var prefixes = map[Stream]string{Tasks: "iik.task.", Events: "iik.ev.", Progress: "iik.prog."}

// A Bucket is a set of keys that expire.
type Bucket string

const (
	Leases  Bucket = "leases"  // by job: its attempt is alive
	Workers Bucket = "workers" // by worker: its waiting slots
	Leader  Bucket = "leader"  // the key "leader"
)

// ttl is how long a key of a bucket lives after its last write.
func ttl(b Bucket, faster int) time.Duration { return ttls[b] / time.Duration(max(faster, 1)) }

var ttls = map[Bucket]time.Duration{Leases: LeaseTTL, Workers: 30 * time.Second, Leader: 10 * time.Second}

const (
	// LeaseTTL is how long an attempt may be silent: four heartbeats.
	LeaseTTL = 20 * time.Second
	// AckWait is how long a taken offer waits for its acknowledgement.
	AckWait = 10 * time.Second
)

// A Message is one message. Its ID makes a repeated publication one message for a while; this
// only saves work.
type Message struct {
	Subject string
	ID      string
	Data    []byte
}

// A Taken is a message of a work queue. Ack removes it; without, it comes again.
type Taken struct {
	Message
	Ack func(context.Context) error
}

// ErrNoKey is the error of Get for a key that is not there, and of Swap for one that changed.
var ErrNoKey = errors.New("the key is not there, or it changed")

// A Carrier carries messages. It is safe for concurrent use.
type Carrier interface {
	Publish(ctx context.Context, s Stream, m Message) error
	// Take takes the next message of a work queue with exactly this subject. It waits up to
	// wait; nil if there is none.
	Take(ctx context.Context, s Stream, subject string, wait time.Duration) (*Taken, error)
	// Watch calls do with each message whose subject begins with prefix, from now on, until
	// ctx ends. do must not wait.
	Watch(ctx context.Context, s Stream, prefix string, do func(Message)) error
	Put(ctx context.Context, b Bucket, key string, value []byte) error
	Get(ctx context.Context, b Bucket, key string) (value []byte, revision uint64, err error)
	// Swap writes a key that has this revision; 0 is one that is not there.
	Swap(ctx context.Context, b Bucket, key string, value []byte, revision uint64) (uint64, error)
	Delete(ctx context.Context, b Bucket, key string) error
	// List is all keys of a bucket with their values.
	List(ctx context.Context, b Bucket) (map[string][]byte, error)
	// Empty deletes every stream and bucket: a test of what depends on them.
	Empty(ctx context.Context) error
	Close()
}
