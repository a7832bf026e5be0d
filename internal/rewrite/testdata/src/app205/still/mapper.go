package main

import (
	"context"

	"app205/still/ent"
	"gorm.io/gorm"
	"xorm.io/xorm"
)

// GormWhere: gorm makes the statement; the condition is in the chain.
func GormWhere(db *gorm.DB, posts []Post) {
	for _, p := range posts {
		var users []User
		db.Where("team_id = ?", p.UserID).
			Order("id").
			Find(&users) // want `APP205: each element of the loop sends a query of gorm`
		p.User = users[0]
	}
}

// GormCondition: the condition is an argument of the last call.
func GormCondition(db *gorm.DB, posts []Post) error {
	for i := range posts {
		if err := db.First(&posts[i].User, "id = ?", posts[i].UserID).Error; err != nil { // want `APP205: each element of the loop sends a query of gorm`
			return err
		}
	}
	return nil
}

func gormUser(db *gorm.DB, id int64) (u User, err error) {
	err = db.First(&u, id).Error
	return u, err
}

// GormHelper: a function of the package asks.
func GormHelper(db *gorm.DB, posts []Post) {
	for i, p := range posts {
		posts[i].User, _ = gormUser(db, p.UserID) // want `APP205: each element of the loop calls gormUser, which sends a query of gorm`
	}
}

// GormSame: each round asks for the same rows.
func GormSame(db *gorm.DB, n int) {
	for range n {
		var users []User
		db.Order("id").Limit(3).Find(&users)
	}
}

// GormStores: nothing is asked.
func GormStores(db *gorm.DB, posts []Post) {
	for _, p := range posts {
		db.Create(&p)
	}
}

// GormOnce: one query has the rows of all.
func GormOnce(db *gorm.DB, ids []int64) (users []User) {
	db.Preload("Posts").Where("id IN ?", ids).Find(&users)
	return users
}

// XormBean: the condition is the value that takes the row.
func XormBean(e *xorm.Engine, ids []int64) {
	for _, id := range ids {
		e.Get(&User{ID: id}) // want `APP205: each element of the loop sends a query of xorm`
	}
}

// XormID: the condition begins the chain.
func XormID(e *xorm.Engine, ids []int64) (users []User, err error) {
	for _, id := range ids {
		var u User
		if _, err = e.ID(id).Get(&u); err != nil { // want `APP205: each element of the loop sends a query of xorm`
			return nil, err
		}
		users = append(users, u)
	}
	return users, nil
}

// XormUpdates: nothing is asked.
func XormUpdates(e *xorm.Engine, ids []int64) {
	for _, id := range ids {
		e.ID(id).Update(&User{Name: "-"})
	}
}

// EntQuery: the client that ent generates.
func EntQuery(ctx context.Context, c *ent.UserClient, ids []int) (names []string) {
	for _, id := range ids {
		users, _ := c.Query().Where(ent.IDEQ(id)).All(ctx) // want `APP205: each element of the loop sends a query of ent`
		names = append(names, users[0].Name)
	}
	return names
}

// EntGet: by its identifier.
func EntGet(ctx context.Context, c *ent.UserClient, ids []int) {
	for _, id := range ids {
		c.Get(ctx, id) // want `APP205: each element of the loop sends a query of ent`
	}
}
