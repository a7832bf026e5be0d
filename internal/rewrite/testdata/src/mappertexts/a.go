package main

import (
	"gorm.io/gorm"
	"xorm.io/xorm"
)

type Model struct {
	ID        uint `gorm:"primarykey"`
	DeletedAt gorm.DeletedAt
}

type Boat struct {
	Model
	Name string
}

type Berth struct {
	Number   int `gorm:"primaryKey"`
	QuayCode string
	Depth    int
}

func (Berth) TableName() string { return "berth" }

type Skipper struct {
	ID    int64 `xorm:"pk autoincr"`
	Name  string
	Owner int64  `xorm:"index 'owner_id'"`
	Cache string `xorm:"-"`
}

func ByKey(db *gorm.DB, id int)      { var b Boat; db.First(&b, id) }
func ByKeyOlder(db *gorm.DB, id int) { var b Boat; db.First(&b, id) }

func ByText(db *gorm.DB, quay string) (b Berth, err error) {
	err = db.Where("quay = ?", quay).First(&b).Error
	return b, err
}

func Several(db *gorm.DB, quay string) (list []*Berth) {
	db.Where("quay = ?", quay).Where("width > ? OR deep = ?", 3, true).Order("width desc").Find(&list)
	return list
}

func Fields(db *gorm.DB, quay string) (b Berth) {
	q := db.Where(&Berth{QuayCode: quay})
	q.Take(&b)
	return b
}

func Map(db *gorm.DB) (list []Berth) {
	db.Where(map[string]interface{}{"quay_code": "a", "depth": 3}).Find(&list)
	return list
}

func Counts(db *gorm.DB, quay string) (n int64) {
	db.Model(&Berth{}).Where("quay = ?", quay).Count(&n)
	return n
}

func Plucks(db *gorm.DB, quay string) (numbers []int) {
	db.Model(&Berth{}).Where("quay = ?", quay).Pluck("number", &numbers)
	return numbers
}

func Tables(db *gorm.DB, boat int) (n int64) {
	query := db.Table("stays").Where("boat_id = ?", boat)
	query.Count(&n)
	return n
}

func Unscoped(db *gorm.DB, name string) (list []Boat) {
	db.Unscoped().Find(&list, "name = ?", name)
	return list
}

func XormID(e *xorm.Engine, id int64) (s Skipper) {
	e.ID(id).Get(&s)
	return s
}

func XormWhere(e *xorm.Engine, owner int64) (list []Skipper) {
	e.Where("owner_id = ?", owner).And("name <> ?", "").OrderBy("name").Find(&list)
	return list
}

func XormBean(e *xorm.Engine, owner int64) bool {
	has, _ := e.Get(&Skipper{Owner: owner})
	return has
}

func XormCount(e *xorm.Engine, owner int64) int64 {
	n, _ := e.Where("owner_id = ?", owner).Count(&Skipper{})
	return n
}

func List(db *gorm.DB, ids []int) (list []Berth) {
	db.Where("number IN ?", ids).Find(&list)
	return list
}

func Computed(db *gorm.DB, condition string) (list []Berth) {
	db.Where(condition).Find(&list)
	return list
}

func NamedValues(db *gorm.DB) (list []Berth) {
	db.Where("quay = @quay", map[string]interface{}{"quay": 1}).Find(&list)
	return list
}

func Scopes(db *gorm.DB, f func(*gorm.DB) *gorm.DB) (list []Berth) {
	db.Scopes(f).Find(&list)
	return list
}

func main() {}
