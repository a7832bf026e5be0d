package main

import (
	"database/sql"
	"fmt"
)

func condition(least int) string { return fmt.Sprintf("rank_ > %d OR rank_ = 0", least) }

// Loose: an OR of the part would reach beyond the test.
func Loose(least int) ([]Shop, error) {
	list, kept := []Shop{}, []Shop{}
	if err := db.Select(&list, "SELECT * FROM shop"); err != nil {
		return nil, err
	}
	where := condition(least)
	for _, s := range list {
		found := Shop{}
		err := db.Get(&found, fmt.Sprintf("SELECT * FROM shop WHERE id = ? AND %s", where), s.ID)
		if err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, err
		}
		kept = append(kept, found)
	}
	return kept, nil
}

// OfRow: the part is of the row, and no text of its columns between quotes.
func OfRow() ([]Shop, error) {
	list, kept := []Shop{}, []Shop{}
	if err := db.Select(&list, "SELECT * FROM shop"); err != nil {
		return nil, err
	}
	for _, s := range list {
		found := Shop{}
		part := condition(s.Rank)
		err := db.Get(&found, fmt.Sprintf("SELECT * FROM shop WHERE id = ? AND (%s)", part), s.ID)
		if err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, err
		}
		kept = append(kept, found)
	}
	return kept, nil
}

// Quoted: the part is within a text of the statement.
func Quoted(name string) ([]Shop, error) {
	list, kept := []Shop{}, []Shop{}
	if err := db.Select(&list, "SELECT * FROM shop"); err != nil {
		return nil, err
	}
	for _, s := range list {
		found := Shop{}
		err := db.Get(&found, fmt.Sprintf("SELECT * FROM shop WHERE id = ? AND LOCATE('%s', name) > 0", name), s.ID)
		if err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, err
		}
		kept = append(kept, found)
	}
	return kept, nil
}

// LastError: what the last test said is answered behind the loop.
func LastError(least int) ([]Shop, error) {
	list, kept := []Shop{}, []Shop{}
	err := db.Select(&list, "SELECT * FROM shop")
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		found := Shop{}
		err = db.Get(&found, "SELECT * FROM shop WHERE id = ? AND rank_ > ?", s.ID, least)
		if err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, err
		}
		kept = append(kept, found)
	}
	return kept, err
}

// NamedError: the error is a result of the function.
func NamedError(least int) (kept []Shop, err error) {
	list := []Shop{}
	if err := db.Select(&list, "SELECT * FROM shop"); err != nil {
		return nil, err
	}
	kept = []Shop{}
	for _, s := range list {
		found := Shop{}
		err = db.Get(&found, "SELECT * FROM shop WHERE id = ? AND rank_ > ?", s.ID, least)
		if err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, err
		}
		kept = append(kept, found)
	}
	return
}
