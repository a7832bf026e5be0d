// The web application of the contest: chairs report their condition, owners read
// it. Everything is answered from the database, in the simplest way, by one process.
// It runs in its own directory and finds ../sql/init.sh, ../public, ../NoImage.jpg
// and ../ec256-public.pem from there.
//
//  1. server.js, app.js: start, routes, errors, initialize.
//  2. auth.js: login with a token of JIA, sessions.
//  3. isu.js: list, registration, detail, icon.
//  4. condition.js: receives reports, answers the history.
//  5. graph.js, trend.js: data computed from the conditions.
//  6. level.js: the text of a condition. request.js: refusals and parameters.
//  7. database.js: the connections. build.js: packages and syntax, at build time.
'use strict';

const http = require('node:http');

const { makeApp } = require('./app');

const server = http.createServer(makeApp());

// The proxy, not the app, closes an idle connection: a request that arrives while the
// app closes its connection would get no answer.
server.keepAliveTimeout = 75_000;

server.listen(Number(process.env.SERVER_APP_PORT || 3000), process.env.SERVER_APP_HOST);
