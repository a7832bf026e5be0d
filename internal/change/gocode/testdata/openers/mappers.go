package main

import (
	"context"
	"database/sql"
	"os"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/go-gorp/gorp/v3"
	old "github.com/jinzhu/gorm"
	_ "github.com/jinzhu/gorm/dialects/mysql"
	"github.com/pocketbase/dbx"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"xorm.io/xorm"

	"openers/ent"
)

// A Member is a row as mappers map it.
type Member struct {
	ID int `gorm:"primaryKey" xorm:"pk 'id'"`
	N  int
}

// TableName is that of the mappers' rules for other names.
func (Member) TableName() string { return "member" }

// raw is a pool that reads by the means of a mapper, and the first value of a row.
func raw(read func(n *int) error, write func() error) *pool {
	return &pool{read: func() (n int, err error) {
		err = read(&n)
		return n, err
	}, write: write}
}

func ofGorm(d gorm.Dialector) (*pool, error) {
	db, err := gorm.Open(d, &gorm.Config{SkipDefaultTransaction: true})
	if err != nil {
		return nil, err
	}
	return raw(func(n *int) error { return db.Raw(readText, 7).Scan(n).Error }, func() error { return db.Exec(writeText, 7).Error }), nil
}

func ofOldGorm(db *old.DB, err error) (*pool, error) {
	if err != nil {
		return nil, err
	}
	return raw(func(n *int) error { return db.Raw(readText, 7).Row().Scan(n) }, func() error { return db.Exec(writeText, 7).Error }), nil
}

func ofXorm(e xorm.EngineInterface, err error) (*pool, error) {
	if err != nil {
		return nil, err
	}
	read := func(n *int) error {
		_, err := e.SQL(readText, 7).Get(n)
		return err
	}
	return raw(read, func() error {
		_, err := e.Exec(writeText, 7)
		return err
	}), nil
}

func ofEnt(d *entsql.Driver, err error) (*pool, error) {
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	read := func(n *int) error {
		rows := &entsql.Rows{}
		if err := d.Query(ctx, readText, []interface{}{7}, rows); err != nil {
			return err
		}
		defer rows.Close()
		return entsql.ScanOne(rows, n)
	}
	return raw(read, func() error { return d.Exec(ctx, writeText, []interface{}{7}, nil) }), nil
}

func gormSettings(dsn string) mysql.Config {
	c := mysql.Config{DSN: dsn, DefaultStringSize: 100}
	c.SkipInitializeWithVersion = true
	return c
}

func init() {
	forms["gorm open"] = func(dsn string) (*pool, error) { return ofGorm(mysql.Open(dsn)) }
	forms["gorm new"] = func(dsn string) (*pool, error) { return ofGorm(mysql.New(mysql.Config{DSN: dsn})) }
	forms["gorm new, settings"] = func(dsn string) (*pool, error) { return ofGorm(mysql.New(gormSettings(dsn))) }
	forms["gorm new, driver"] = func(dsn string) (*pool, error) {
		return ofGorm(mysql.New(mysql.Config{DriverName: "mysql", DSN: dsn}))
	}
	forms["gorm of a pool"] = func(dsn string) (*pool, error) {
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			return nil, err
		}
		return ofGorm(mysql.New(mysql.Config{Conn: db}))
	}
	forms["gorm by its model"] = func(dsn string) (*pool, error) {
		db, err := gorm.Open(mysql.Open(dsn), &gorm.Config{SkipDefaultTransaction: true})
		if err != nil {
			return nil, err
		}
		return raw(func(n *int) error {
			var m Member
			err := db.Where("id = ?", 7).First(&m).Error
			*n = m.N
			return err
		}, func() error { return db.Exec(writeText, 7).Error }), nil
	}
	forms["old gorm"] = func(dsn string) (*pool, error) { return ofOldGorm(old.Open("mysql", dsn)) }
	forms["old gorm, settings"] = func(dsn string) (*pool, error) { return ofOldGorm(old.Open(engineName(), dsn)) }
	forms["old gorm of a pool"] = func(dsn string) (*pool, error) {
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			return nil, err
		}
		return ofOldGorm(old.Open("mysql", db))
	}
	forms["xorm"] = func(dsn string) (*pool, error) { return ofXorm(xorm.NewEngine("mysql", dsn)) }
	forms["xorm, settings"] = func(dsn string) (*pool, error) { return ofXorm(xorm.NewEngine(os.Getenv("DB_TYPE")+"mysql", dsn)) }
	forms["xorm with parameters"] = func(dsn string) (*pool, error) {
		return ofXorm(xorm.NewEngineWithParams("mysql", dsn, map[string]string{}))
	}
	forms["xorm group"] = func(dsn string) (*pool, error) {
		g, err := xorm.NewEngineGroup("mysql", []string{dsn, dsn})
		return ofXorm(g, err)
	}
	forms["xorm group of engines"] = func(dsn string) (*pool, error) {
		e, err := xorm.NewEngine("mysql", dsn)
		if err != nil {
			return nil, err
		}
		second, err := xorm.NewEngine("mysql", dsn)
		if err != nil {
			return nil, err
		}
		g, err := xorm.NewEngineGroup(e, []*xorm.Engine{second})
		return ofXorm(g, err)
	}
	forms["xorm by its model"] = func(dsn string) (*pool, error) {
		e, err := xorm.NewEngine("mysql", dsn)
		if err != nil {
			return nil, err
		}
		return raw(func(n *int) error {
			var m Member
			_, err := e.ID(7).Get(&m)
			*n = m.N
			return err
		}, func() error {
			_, err := e.Exec(writeText, 7)
			return err
		}), nil
	}
	forms["ent driver"] = func(dsn string) (*pool, error) { return ofEnt(entsql.Open("mysql", dsn)) }
	forms["ent of a pool"] = func(dsn string) (*pool, error) {
		db, err := sql.Open("mysql", dsn)
		return ofEnt(entsql.OpenDB(dialect.MySQL, db), err)
	}
	forms["ent client"] = func(dsn string) (*pool, error) {
		c, err := ent.Open("mysql", dsn)
		if err != nil {
			return nil, err
		}
		return ofEnt(c.SQL(), nil)
	}
	forms["dbx"] = func(dsn string) (*pool, error) {
		db, err := dbx.MustOpen("mysql", dsn)
		if err != nil {
			return nil, err
		}
		return raw(func(n *int) error {
			return db.NewQuery("SELECT n FROM member WHERE id = {:id}").Bind(dbx.Params{"id": 7}).Row(n)
		}, func() error {
			_, err := db.NewQuery("UPDATE member SET n = n + 1 WHERE id = {:id}").Bind(dbx.Params{"id": 7}).Execute()
			return err
		}), nil
	}
	forms["gorp"] = func(dsn string) (*pool, error) {
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			return nil, err
		}
		m := &gorp.DbMap{Db: db, Dialect: gorp.MySQLDialect{}}
		return raw(func(n *int) error { return m.SelectOne(n, readText, 7) }, func() error {
			_, err := m.Exec(writeText, 7)
			return err
		}), nil
	}
}
