// Package cache has the rules about Redis and memcached.
package cache
