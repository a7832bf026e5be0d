// Package topology plans where the services of a site run. A placement is two changes:
//
//	prepare   the other host gets the data, the settings and the accounts; the site does
//	          not use it yet
//	switch    the clients go to the other host, and the former server ends; it takes seconds,
//	          and so does its undo
//
// so that a comparison of both placements copies the data once. Acts:
//
//	act = move     a database or a cache to another host
//	act = spread   an app over several hosts
//	act = weights  which share of its requests each of them gets
//	act = gather   back to one of them
//
// Steps of a move of a database:
//
//  1. mysqlserver.go: both servers have the same version, settings and folder of data;
//     otherwise the data of a MariaDB go as statements, see placeload.go of package change;
//  2. clients.go, address.go: which apps connect to it, and by which variable each has the
//     host alone. An app that has it otherwise is refused, with the place in its source;
//  3. prepare.go: the account for the address of the clients is made on the present server,
//     both servers end, the folder of data is copied, both start again;
//  4. switch.go: drop-ins of the clients' units have the new address and a restart policy,
//     since machines boot in any order; the former server is stopped and disabled.
//
// Of a move of a Redis or a memcached (movestore.go, store.go, cacheaddress.go): prepare has the
// server on the new host listen for other hosts; the switch ends the former server, takes its
// files along where it has some, and leads the clients.
//
// Services are started and stopped by their units. Nothing is replicated.
package topology
