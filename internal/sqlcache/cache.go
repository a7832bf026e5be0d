package sqlcache

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
)

// Options of a Cache.
type Options struct {
	// Bytes bounds the memory of the answers. Zero: an eighth of the memory that
	// is available at start, at most 1 GiB and at least 16 MiB.
	Bytes int64
}

// A Cache keeps answers for the drivers and connectors that were made of it. All
// pools of a process that reach the same database must be made of one Cache.
type Cache struct {
	plan   *compiled
	texts  statements
	hash   hasher
	store  *store
	lost   lostWrites
	source atomic.Uint32
	mu     sync.Mutex
	spaces map[string]*space
}

// New makes a cache. Its error is a plan that contradicts itself.
func New(p Plan, o Options) (*Cache, error) {
	c, err := compile(p)
	if err != nil {
		return nil, err
	}
	if o.Bytes <= 0 {
		o.Bytes = defaultBytes()
	}
	seed := newSeed()
	return &Cache{plan: c, texts: statements{seed: seed}, hash: hasher{seed}, store: newStore(o.Bytes), spaces: map[string]*space{}}, nil
}

// Register makes a driver of the given name out of the driver named base, as in
// Register("mysql+cache", "mysql", plan, Options{}). It panics if the plan
// contradicts itself or the name is taken, like sql.Register.
func Register(name, base string, p Plan, o Options) *Cache {
	c, err := New(p, o)
	if err != nil {
		panic(err)
	}
	sql.Register(name, &cachedDriver{cache: c, base: func(dsn string) (driver.Driver, error) {
		db, err := sql.Open(base, dsn)
		if err != nil {
			return nil, err
		}
		return db.Driver(), db.Close()
	}})
	return c
}

// Connector wraps a connector, for sql.OpenDB. name is the data source name;
// with SQLite it begins with the path of the file.
func (c *Cache) Connector(base driver.Connector, name string) driver.Connector {
	return &connector{cache: c, base: base, space: c.space(name), source: c.source.Add(1)}
}

// Outside announces a program that writes to the database past the cache, such
// as a mysql client. Until end is called no answer is kept or taken from the
// cache.
func (c *Cache) Outside() (end func()) {
	spaces := c.allSpaces()
	for _, s := range spaces {
		s.everything.doubt()
	}
	return sync.OnceFunc(func() {
		for _, s := range spaces {
			s.everything.settle()
		}
		c.store.clear()
	})
}

// Flush forgets all answers.
func (c *Cache) Flush() { c.Outside()() }

func (c *Cache) allSpaces() []*space {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*space, 0, len(c.spaces))
	for _, s := range c.spaces {
		all = append(all, s)
	}
	return all
}

// space gives the slots of a database. All data source names of a MySQL dialect
// share one: two names may lead to one server. With SQLite there is one for each
// file; nil stands for a database that is not cached.
func (c *Cache) space(name string) *space {
	key := ""
	if c.plan.plan.Dialect == SQLite {
		if key = fileOf(name); key == "" {
			return nil
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.spaces[key]
	if s == nil {
		s = newSpace(c.plan.plan.Tables)
		c.spaces[key] = s
	}
	return s
}

// fileOf is the file of a SQLite data source name, "" for one in memory or one
// whose file cannot be told.
func fileOf(name string) string {
	path, query, _ := strings.Cut(strings.TrimPrefix(name, "file:"), "?")
	if path == "" || strings.Contains(path, ":memory:") || strings.Contains(query, "mode=memory") {
		return ""
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	// The file may not exist yet; its folder does.
	folder, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return ""
	}
	abs = filepath.Join(folder, filepath.Base(abs))
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real
	}
	return abs
}

// cachedDriver is what sql.Open finds under the registered name.
type cachedDriver struct {
	cache *Cache
	base  func(dsn string) (driver.Driver, error)
}

func (d *cachedDriver) Open(dsn string) (driver.Conn, error) {
	c, err := d.OpenConnector(dsn)
	if err != nil {
		return nil, err
	}
	return c.Connect(context.Background())
}

func (d *cachedDriver) OpenConnector(dsn string) (driver.Connector, error) {
	base, err := d.base(dsn)
	if err != nil {
		return nil, fmt.Errorf("sqlcache: %w", err)
	}
	if dc, ok := base.(driver.DriverContext); ok {
		c, err := dc.OpenConnector(dsn)
		if err != nil {
			return nil, err
		}
		return d.cache.Connector(c, dsn), nil
	}
	return d.cache.Connector(dsnConnector{base, dsn}, dsn), nil
}

// dsnConnector is a connector of a driver that has none.
type dsnConnector struct {
	driver driver.Driver
	dsn    string
}

func (c dsnConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c dsnConnector) Driver() driver.Driver                        { return c.driver }

// connector makes connections whose statements go through the cache.
type connector struct {
	cache  *Cache
	base   driver.Connector
	space  *space
	source uint32
	// skips: the driver sends statements with arguments as prepared ones only
	// (driver.ErrSkip), so that their values are those of prepared statements.
	skips atomic.Bool
}

func (c *connector) Driver() driver.Driver { return c.base.Driver() }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	base, err := c.base.Connect(ctx)
	if err != nil || c.space == nil {
		return base, err
	}
	k := &conn{base: base, connector: c, cache: c.cache}
	if c.cache.plan.plan.Dialect == MySQL {
		if err := k.identify(ctx); err != nil {
			base.Close()
			return nil, fmt.Errorf("sqlcache: asking a new connection for its number: %w", err)
		}
	}
	return k, nil
}
