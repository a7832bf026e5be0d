// Package gorm has the signatures of gorm, for tests.
package gorm

type DB struct{ Error error }

func (db *DB) Where(query interface{}, args ...interface{}) *DB { return db }
func (db *DB) Order(value interface{}) *DB                      { return db }
func (db *DB) Limit(n int) *DB                                  { return db }
func (db *DB) Model(value interface{}) *DB                      { return db }
func (db *DB) Preload(query string, args ...interface{}) *DB    { return db }
func (db *DB) First(dest interface{}, conds ...interface{}) *DB { return db }
func (db *DB) Find(dest interface{}, conds ...interface{}) *DB  { return db }
func (db *DB) Count(count *int64) *DB                           { return db }
func (db *DB) Create(value interface{}) *DB                     { return db }
func (db *DB) Take(dest interface{}, conds ...interface{}) *DB  { return db }
func (db *DB) Pluck(column string, dest interface{}) *DB        { return db }
func (db *DB) Table(name string, args ...interface{}) *DB       { return db }
func (db *DB) Unscoped() *DB                                    { return db }
func (db *DB) Scopes(funcs ...func(*DB) *DB) *DB                { return db }

func (db *DB) Association(column string) *Association { return nil }

// An Association has no method Limit.
type Association struct{ Error error }

func (a *Association) Find(out interface{}, conds ...interface{}) error { return nil }

type DeletedAt struct{ Valid bool }
