// Package xorm has the signatures of xorm, for tests.
package xorm

type Session struct{}
type Engine struct{}

func (e *Engine) ID(id interface{}) *Session                                    { return nil }
func (e *Engine) Get(bean interface{}) (bool, error)                            { return false, nil }
func (e *Engine) Where(query interface{}, args ...interface{}) *Session         { return nil }
func (s *Session) Limit(n int, start ...int) *Session                           { return s }
func (s *Session) Get(bean interface{}) (bool, error)                           { return false, nil }
func (s *Session) Where(query interface{}, args ...interface{}) *Session        { return s }
func (s *Session) Find(rows interface{}, conditions ...interface{}) error       { return nil }
func (s *Session) Update(bean interface{}, conds ...interface{}) (int64, error) { return 0, nil }
func (s *Session) And(query interface{}, args ...interface{}) *Session          { return s }
func (s *Session) OrderBy(order interface{}) *Session                           { return s }
func (s *Session) Count(bean ...interface{}) (int64, error)                     { return 0, nil }
