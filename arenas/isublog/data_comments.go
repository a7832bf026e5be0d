package isublog

import "sync"

// index of the initial comments: the ids of each article's comments would need all
// texts in memory, so the texts of one article are drawn again when they are needed.

// latestCommented lists the articles by their newest initial comment, the newest
// first.
var latestCommented = sync.OnceValue(func() []int {
	order := make([]int, 0, Comments)
	if err := eachComment(func(c Comment) error { order = append(order, c.Article); return nil }); err != nil {
		panic("BUG: " + err.Error())
	}
	seen := make([]bool, Articles+1)
	var ids []int
	for i := len(order) - 1; i >= 0; i-- {
		if id := order[i]; !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
})

// initialComments lists the initial comments of an article in their order.
func initialComments(article int) (list []Comment) {
	err := eachComment(func(c Comment) error {
		if c.Article == article {
			list = append(list, c)
		}
		return nil
	})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return list
}
