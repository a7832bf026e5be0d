'use strict';

const crypto = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

const { pool } = require('./database');
const { Refused } = require('./request');

const sessionName = 'isucondition';
const sessionKey = process.env.SESSION_KEY || 'isucondition';
const sessionSeconds = 30 * 24 * 60 * 60;

const jiaKey = crypto.createPublicKey(fs.readFileSync(path.resolve(__dirname, '../ec256-public.pem')));

// signature signs the content of a session.
function signature(content) {
  return crypto.createHmac('sha256', sessionKey).update(`${sessionName}|${content}`).digest('base64url');
}

// setSession gives the client a signed cookie, which ends after the seconds.
function setSession(res, session, seconds) {
  const content = Buffer.from(JSON.stringify({ ...session, at: nowSeconds() })).toString('base64url');
  const expires = seconds > 0 ? new Date(Date.now() + seconds * 1000) : new Date(1000);
  res.append('Set-Cookie',
    `${sessionName}=${content}.${signature(content)}; Path=/; Expires=${expires.toUTCString()}; Max-Age=${Math.max(0, seconds)}`);
}

// sessionOf reads the cookie of a request. Without a valid one it is an empty session.
function sessionOf(req) {
  for (const pair of (req.headers.cookie ?? '').split(';')) {
    const [name, value] = cut(pair.trim(), '=');
    if (name !== sessionName) {
      continue;
    }
    const [content, signed] = cut(value, '.');
    const is = Buffer.from(signed);
    const want = Buffer.from(signature(content));
    if (is.length !== want.length || !crypto.timingSafeEqual(is, want)) {
      return {};
    }
    const session = JSON.parse(Buffer.from(content, 'base64url').toString());
    return session.at + sessionSeconds > nowSeconds() ? session : {};
  }
  return {};
}

// cut splits a text at the first separator.
function cut(text, separator) {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

function nowSeconds() {
  return Math.floor(Date.now() / 1000);
}

// userOf returns the user who sent the request. The user must still be in the
// database, because initialize replaces the users.
async function userOf(req) {
  const id = sessionOf(req).jia_user_id;
  if (typeof id !== 'string' || !(await isUser(id))) {
    throw new Refused(401, 'you are not signed in');
  }
  return id;
}

async function isUser(id) {
  const [[row]] = await pool.query('SELECT COUNT(*) AS `count` FROM `user` WHERE `jia_user_id` = ?', [id]);
  return row.count > 0;
}

// claimsOf returns the claims of a token that JIA has signed. It returns undefined if
// the token is not valid now.
function claimsOf(token) {
  const parts = token.split('.');
  if (parts.length !== 3) {
    return undefined;
  }
  try {
    const header = JSON.parse(Buffer.from(parts[0], 'base64url').toString());
    const signed = Buffer.from(`${parts[0]}.${parts[1]}`);
    const key = { key: jiaKey, dsaEncoding: 'ieee-p1363' };
    if (header.alg !== 'ES256' || !crypto.verify('sha256', signed, key, Buffer.from(parts[2], 'base64url'))) {
      return undefined;
    }
    const claims = JSON.parse(Buffer.from(parts[1], 'base64url').toString());
    return isInTime(claims, Date.now() / 1000) ? claims : undefined;
  } catch {
    return undefined; // it is no JSON
  }
}

// isInTime checks the times of claims, each of which may be absent.
function isInTime(claims, now) {
  for (const name of ['exp', 'nbf', 'iat']) {
    if (claims[name] !== undefined && typeof claims[name] !== 'number') {
      return false;
    }
  }
  return !(now >= claims.exp) && !(now < claims.nbf) && !(now < claims.iat);
}

// postAuthentication signs a user in with a token of JIA, and registers a new user.
async function postAuthentication(req, res) {
  const token = (req.headers.authorization ?? '').replace(/^Bearer /, '');
  const claims = claimsOf(token);
  if (claims === undefined) {
    throw new Refused(403, 'forbidden');
  }
  if (typeof claims.jia_user_id !== 'string') {
    throw new Refused(400, 'invalid JWT payload');
  }

  await pool.query('INSERT IGNORE INTO `user` (`jia_user_id`) VALUES (?)', [claims.jia_user_id]);

  setSession(res, { jia_user_id: claims.jia_user_id }, sessionSeconds);
  res.status(200).end();
}

// postSignout ends the session.
async function postSignout(req, res) {
  await userOf(req);
  setSession(res, {}, -1);
  res.status(200).end();
}

// getMe answers the user who is signed in.
async function getMe(req, res) {
  res.json({ jia_user_id: await userOf(req) });
}

module.exports = { userOf, postAuthentication, postSignout, getMe };
