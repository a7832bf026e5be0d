'use strict';

const { spawn } = require('node:child_process');
const path = require('node:path');

const express = require('express');
const morgan = require('morgan');

const auth = require('./auth');
const condition = require('./condition');
const { pool } = require('./database');
const graph = require('./graph');
const isu = require('./isu');
const { Refused } = require('./request');
const trend = require('./trend');

const initScript = path.resolve(__dirname, '../sql/init.sh');
const frontend = path.resolve(__dirname, '../public');

// A body of any type is taken as it is: the handlers parse it.
const rawBody = express.raw({ type: () => true, limit: '64mb' });

function makeApp() {
  if (!process.env.POST_ISUCONDITION_TARGET_BASE_URL) {
    throw new Error('POST_ISUCONDITION_TARGET_BASE_URL is not set');
  }
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('query parser', false);

  app.use(morgan('short'));

  route(app, '/initialize', { post: [rawBody, postInitialize] });

  route(app, '/api/auth', { post: [auth.postAuthentication] });
  route(app, '/api/signout', { post: [auth.postSignout] });
  route(app, '/api/user/me', { get: [auth.getMe] });
  route(app, '/api/isu', { get: [isu.getIsuList], post: [isu.postIsu] });
  route(app, '/api/isu/:jia_isu_uuid', { get: [isu.getIsu] });
  route(app, '/api/isu/:jia_isu_uuid/icon', { get: [isu.getIsuIcon] });
  route(app, '/api/isu/:jia_isu_uuid/graph', { get: [graph.getIsuGraph] });
  route(app, '/api/condition/:jia_isu_uuid', {
    get: [condition.getIsuConditions],
    post: [condition.dropMost, rawBody, condition.postIsuCondition],
  });
  route(app, '/api/trend', { get: [trend.getTrend] });

  for (const page of ['/', '/register', '/isu/:jia_isu_uuid', '/isu/:jia_isu_uuid/condition', '/isu/:jia_isu_uuid/graph']) {
    route(app, page, { get: [getIndex] });
  }
  app.use('/assets', express.static(path.join(frontend, 'assets'), { cacheControl: false, etag: false, index: false, redirect: false }));

  app.use((req, res) => res.status(404).json({ message: 'Not Found' }));
  app.use(answerError);
  return app;
}

// route adds the handlers of a path by method. Other methods are refused.
function route(app, at, handlers) {
  const r = app.route(at);
  for (const [method, all] of Object.entries(handlers)) {
    r[method](...all);
  }
  r.all((req, res) => res.status(405).json({ message: 'Method Not Allowed' }));
}

// getIndex answers every page: the page's script reads the address. A client that leaves
// before the end is no error.
function getIndex(req, res, next) {
  res.sendFile('index.html', { root: frontend, cacheControl: false, etag: false }, (err) => {
    if (err && err.code !== 'ECONNABORTED') {
      next(err);
    }
  });
}

// answerError answers a refused request with its text, and every other error with
// 500 and an empty body; the reason is in the log.
function answerError(err, req, res, next) { // eslint-disable-line no-unused-vars
  if (res.headersSent) {
    console.error(`answering ${req.method} ${req.path}: ${err.message}`);
    res.destroy();
  } else if (err instanceof Refused) {
    res.status(err.status).type('text/plain').send(err.message);
  } else if (err.status >= 400 && err.status < 500) { // the body could not be read
    res.status(400).type('text/plain').send('bad request body');
  } else {
    console.error(`${req.method} ${req.path}: ${err.stack}`);
    res.status(500).end();
  }
}

// postInitialize loads schema and initial data again and stores the URL of JIA.
async function postInitialize(req, res) {
  const url = jiaServiceURL(req.body);

  await run(initScript);

  await pool.query(
    'INSERT INTO `isu_association_config` (`name`, `url`) VALUES (?, ?) ON DUPLICATE KEY UPDATE `url` = VALUES(`url`)',
    [isu.jiaServiceURLConfig, url]);
  res.json({ language: 'nodejs' });
}

// jiaServiceURL reads the body of initialize.
function jiaServiceURL(body) {
  let request;
  try {
    request = JSON.parse(String(body ?? ''));
  } catch {
    throw new Refused(400, 'bad request body');
  }
  if (typeof request !== 'object' || Array.isArray(request)) {
    throw new Refused(400, 'bad request body');
  }
  const url = request?.jia_service_url ?? '';
  if (typeof url !== 'string') {
    throw new Refused(400, 'bad request body');
  }
  return url;
}

// run runs a program and waits for its end.
function run(program) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, { stdio: ['ignore', 2, 2] });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (code === 0) {
        resolve();
      } else {
        reject(new Error(`running ${program}: it ended with ${signal ?? code}`));
      }
    });
  });
}

module.exports = { makeApp };
