package sqlcache

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/url"
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
	// Eager: batches are sent also if they take longer than their children, if their
	// answers are hardly used, or if most are refused.
	Eager bool
}

// A Cache keeps answers for the drivers and connectors that were made of it. All
// pools of a process that reach the same database must be made of one Cache.
type Cache struct {
	plan    *compiled
	eager   bool
	texts   statements
	hash    hasher
	store   *store
	lost    lostWrites
	parents parents
	source  uint32 // the last number that was given
	mu      sync.Mutex
	spaces  map[string]*space
	// sources are the numbers of the data source names of one driver, so that a pool
	// that is opened again finds the answers of the one before.
	sources map[string]uint32
	off     bool // some writes cannot be seen
	outside int  // announced programs that run now
}

// New makes a cache. It returns an error if the plan contradicts itself.
func New(p Plan, o Options) (*Cache, error) {
	c, err := compile(p)
	if err != nil {
		return nil, err
	}
	if o.Bytes <= 0 {
		o.Bytes = defaultBytes()
	}
	seed := newSeed()
	return &Cache{plan: c, eager: o.Eager, parents: parents{eager: o.Eager}, texts: statements{hash: hasher{seed}}, hash: hasher{seed}, store: newStore(o.Bytes), spaces: map[string]*space{}, sources: map[string]uint32{}}, nil
}

// Register makes a driver of the given name out of the driver named base, as in
// Register("mysql+cache", "mysql", plan, Options{}). It panics if the plan
// contradicts itself or the name is taken, like sql.Register.
func Register(name, base string, p Plan, o Options) *Cache {
	c, err := New(p, o)
	if err != nil {
		panic(err)
	}
	sql.Register(name, &cachedDriver{cache: c, base: driverNamed(base)})
	return c
}

// Driver registers a driver above the one of a name, as Register does for one that is known
// when the app is built, and returns its name. Calls with the same name give the same.
func (c *Cache) Driver(base string) string {
	if strings.HasSuffix(base, nameSuffix) {
		return base
	}
	name := base + nameSuffix
	naming.Lock()
	defer naming.Unlock()
	for _, have := range sql.Drivers() {
		if have == name {
			return name
		}
	}
	sql.Register(name, &cachedDriver{cache: c, base: driverNamed(base)})
	return name
}

// nameSuffix is behind the name of a driver with a cache above it.
const nameSuffix = "+cache"

// naming is held while a name is looked for and registered.
var naming sync.Mutex

// driverNamed gives the driver that sql.Open finds under a name.
func driverNamed(base string) func(dsn string) (driver.Driver, error) {
	return func(dsn string) (driver.Driver, error) {
		db, err := sql.Open(base, dsn)
		if err != nil {
			return nil, err
		}
		return db.Driver(), db.Close()
	}
}

// Connector wraps a connector, for sql.OpenDB. name is the data source name;
// with SQLite it begins with the path of the file.
func (c *Cache) Connector(base driver.Connector, name string) driver.Connector {
	return &connector{cache: c, base: base, name: name, space: c.space(name), source: atomic.AddUint32(&c.source, 1)}
}

// Outside announces a program that writes to the database past the cache, such
// as a mysql client. Until end is called no answer is kept or taken from the
// cache.
func (c *Cache) Outside() (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outside++
	for _, s := range c.spaces {
		s.everything.doubt()
	}
	var once sync.Once
	return func() { once.Do(c.ended) }
}

// ended is called when an announced program has ended. It may have put other files in
// the place of those that are open.
func (c *Cache) ended() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outside--
	for _, s := range c.spaces { // also those that were made meanwhile
		s.look()
		s.everything.settle()
	}
	c.store.clear()
}

// Flush forgets all answers.
func (c *Cache) Flush() { c.Outside()() }

// space gives the slots of a database. All data source names of a MySQL dialect
// share one: two names may lead to one server. With SQLite there is one for each
// file; nil stands for a database that is not cached.
func (c *Cache) space(name string) *space {
	key := ""
	if c.plan.plan.Dialect == SQLite {
		file, known := fileOf(name)
		if !known {
			c.disable() // it may be any of the files
		}
		if file == "" {
			return nil
		}
		key = file
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.spaces[key]
	if s == nil && len(c.spaces) < mostSpaces {
		s = newSpace(c.plan.plan.Tables)
		s.path = key
		s.outside(c.outside)
		if c.off {
			s.shut()
		}
		c.spaces[key] = s
	}
	return s
}

// mostSpaces bounds the files with a cache. Further files have none.
const mostSpaces = 1024

// disable switches the cache off for good: a write to any file may come by a way that
// the cache does not see.
func (c *Cache) disable() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.off {
		return
	}
	c.off = true
	for _, s := range c.spaces {
		s.shut()
	}
}

// sourceOf is the number of a data source name of the registered driver. A name that
// leads to another file than before, by a symbolic link, has another number.
func (c *Cache) sourceOf(name string, s *space) uint32 {
	if s != nil {
		name += "\x00" + s.path
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.sources[name]
	if !ok {
		n = atomic.AddUint32(&c.source, 1)
		if len(c.sources) < mostSpaces {
			c.sources[name] = n
		}
	}
	return n
}

// fileOf is the file of a SQLite data source name, "" for a database that no other name
// reaches, such as one in memory. known is false if the file cannot be told.
func fileOf(name string) (file string, known bool) {
	path, query := cut(name, "?")
	values, err := url.ParseQuery(query)
	if err != nil || values["vfs"] != nil || values["_vfs"] != nil {
		return "", false
	}
	rest, uri := strings.TrimPrefix(path, "file:"), strings.HasPrefix(path, "file:")
	if uri {
		rest, _ = cut(rest, "#")
		if strings.HasPrefix(rest, "//") {
			host, under := cut(rest[2:], "/")
			if host != "" && host != "localhost" {
				return "", false
			}
			rest = "/" + under
		}
		if path, err = url.PathUnescape(rest); err != nil || strings.Contains(path, "\x00") {
			return "", false
		}
	}
	if path == "" || path == ":memory:" || uri && strings.Contains(query, "mode=memory") {
		return "", true
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", false
	}
	// The file may not exist yet; its folder does, or opening the file fails.
	folder, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", false
	}
	abs = filepath.Join(folder, filepath.Base(abs))
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, true
	}
	return abs, true
}

// cut divides a text at the first separator; without one, after is empty.
func cut(s, separator string) (before, after string) {
	if i := strings.Index(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):]
	}
	return s, ""
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
	var c driver.Connector = dsnConnector{base, dsn}
	if dc, ok := base.(driver.DriverContext); ok {
		if c, err = dc.OpenConnector(dsn); err != nil {
			return nil, err
		}
	}
	s := d.cache.space(dsn)
	return &connector{cache: d.cache, base: c, named: d, name: dsn, space: s, source: d.cache.sourceOf(dsn, s)}, nil
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
	named  *cachedDriver // that made it; nil for one of Cache.Connector
	name   string        // data source name
	space  *space
	source uint32
	// skips: the driver sends statements with arguments as prepared ones only
	// (driver.ErrSkip), so that their values are those of prepared statements.
	skips uint32
}

// Driver is the driver with the cache, where it has a name: a library that traces
// statements takes the driver of a pool that it opens by the name, and opens others by it.
func (c *connector) Driver() driver.Driver {
	if c.named != nil {
		return c.named
	}
	return c.base.Driver()
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	if c.space == nil {
		return c.base.Connect(ctx)
	}
	if c.cache.plan.plan.Dialect == SQLite {
		return c.openFile(ctx)
	}
	base, err := c.base.Connect(ctx)
	if err != nil {
		return nil, err
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
