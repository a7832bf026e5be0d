package carry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// streams are the configurations; a lost stream costs what docs/adr/0031 says.
var streams = map[Stream]jetstream.StreamConfig{
	Tasks:    {Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew, MaxMsgs: 10_000, MaxAge: time.Hour},
	Events:   {Storage: jetstream.FileStorage, MaxAge: 24 * time.Hour, MaxBytes: 2 << 30},
	Progress: {Storage: jetstream.MemoryStorage, MaxAge: 15 * time.Minute, MaxMsgsPerSubject: 240, MaxBytes: 32 << 20},
}

// A jetStream is a Carrier on JetStream.
type jetStream struct {
	nc     *nats.Conn
	js     jetstream.JetStream
	stop   func()
	fast   int // divides times
	copies int // of each stream

	mu        sync.Mutex
	consumers map[string]jetstream.Consumer
	buckets   map[Bucket]jetstream.KeyValue
}

func newJetStream(ctx context.Context, nc *nats.Conn, stop func(), faster, copies int) (*jetStream, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("opening JetStream: %w", err)
	}
	j := &jetStream{nc: nc, js: js, stop: stop, fast: max(faster, 1), copies: copies}
	j.forget()
	for s := range streams {
		if err := j.make(ctx, s); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// forget drops what the client knows of consumers and buckets: they are looked up again.
func (j *jetStream) forget() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.consumers, j.buckets = map[string]jetstream.Consumer{}, map[Bucket]jetstream.KeyValue{}
}

func (j *jetStream) make(ctx context.Context, s Stream) error {
	c := streams[s]
	c.Name, c.Subjects, c.Duplicates = string(s), []string{prefixes[s] + ">"}, 2*time.Minute
	c.Replicas = j.copies
	if _, err := j.js.CreateOrUpdateStream(ctx, c); err != nil {
		return fmt.Errorf("making the stream %s: %w", s, err)
	}
	return nil
}

// Publish implements Carrier. A stream that is gone is made again.
func (j *jetStream) Publish(ctx context.Context, s Stream, m Message) error {
	msg := &nats.Msg{Subject: m.Subject, Data: m.Data, Header: nats.Header{}}
	if m.ID != "" {
		msg.Header.Set(jetstream.MsgIDHeader, m.ID)
	}
	_, err := j.js.PublishMsg(ctx, msg)
	if errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, nats.ErrNoResponders) {
		if err = j.make(ctx, s); err == nil {
			_, err = j.js.PublishMsg(ctx, msg)
		}
	}
	if err == nil {
		// A copy for those who watch now. They have a subject of their own: with a subscriber
		// on the stream's, a stream that is gone would not be noticed.
		err = j.nc.Publish(livePrefix+m.Subject, m.Data)
	}
	if err != nil {
		return fmt.Errorf("publishing %s: %w", m.Subject, err)
	}
	return nil
}

// livePrefix begins the subjects of copies for those who watch.
const livePrefix = "live."

// consumer is the durable consumer of one subject.
func (j *jetStream) consumer(ctx context.Context, s Stream, subject string) (jetstream.Consumer, error) {
	j.mu.Lock()
	c := j.consumers[subject]
	j.mu.Unlock()
	if c != nil {
		return c, nil
	}
	config := jetstream.ConsumerConfig{Durable: strings.ReplaceAll(subject, ".", "-"), FilterSubject: subject,
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: AckWait / time.Duration(j.fast), MaxAckPending: -1}
	c, err := j.js.CreateOrUpdateConsumer(ctx, string(s), config)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if err = j.make(ctx, s); err == nil {
			c, err = j.js.CreateOrUpdateConsumer(ctx, string(s), config)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("making a consumer of %s: %w", subject, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.consumers[subject] = c
	return c, nil
}

// leastWait is the shortest wait that a fetch takes.
const leastWait = 50 * time.Millisecond

// fetchWait is the longest wait of one fetch: a deleted stream is noticed after it.
const fetchWait = 2 * time.Second

// Take implements Carrier.
func (j *jetStream) Take(ctx context.Context, s Stream, subject string, wait time.Duration) (*Taken, error) {
	end := time.Now().Add(wait)
	for {
		c, err := j.consumer(ctx, s, subject)
		if err != nil {
			return nil, err
		}
		left := min(max(time.Until(end), leastWait), fetchWait)
		limited, cancel := context.WithTimeout(ctx, left)
		batch, err := c.Fetch(1, jetstream.FetchContext(limited))
		if err == nil {
			for m := range batch.Messages() {
				cancel()
				return &Taken{Message{m.Subject(), "", m.Data()}, func(ctx context.Context) error { return m.DoubleAck(ctx) }}, nil
			}
			err = batch.Error()
		}
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil, nil
		case err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrTimeout):
			j.forget() // the stream or the consumer is gone
			select {
			case <-time.After(leastWait):
			case <-ctx.Done():
			}
		}
		if !time.Now().Before(end) {
			return nil, nil
		}
		// A consumer that vanished answers nothing: look whether it is still there.
		if _, err := c.Info(ctx); err != nil {
			j.forget()
		}
	}
}

// Watch implements Carrier. It is a plain subscription: what is lost is read from SQL.
func (j *jetStream) Watch(ctx context.Context, s Stream, prefix string, do func(Message)) error {
	sub, err := j.nc.Subscribe(livePrefix+prefixes[s]+">", func(m *nats.Msg) {
		if subject := strings.TrimPrefix(m.Subject, livePrefix); strings.HasPrefix(subject, prefix) {
			do(Message{Subject: subject, Data: m.Data})
		}
	})
	if err != nil {
		return fmt.Errorf("watching %s: %w", prefix, err)
	}
	context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() }) // the connection may be closed already
	return nil
}

// Empty implements Carrier.
func (j *jetStream) Empty(ctx context.Context) error {
	defer j.forget()
	names := j.js.StreamNames(ctx)
	for name := range names.Name() {
		if err := j.js.DeleteStream(ctx, name); err != nil {
			return fmt.Errorf("deleting the stream %s: %w", name, err)
		}
	}
	return names.Err()
}

// Close implements Carrier.
func (j *jetStream) Close() {
	j.nc.Close()
	j.stop()
}
