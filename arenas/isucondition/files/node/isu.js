'use strict';

const fs = require('node:fs/promises');
const path = require('node:path');

const multer = require('multer');

const { userOf } = require('./auth');
const { responseOf } = require('./condition');
const { inTransaction, pool } = require('./database');
const { Refused } = require('./request');

const noImage = path.resolve(__dirname, '../NoImage.jpg');
const defaultJIAServiceURL = 'http://localhost:5000';
const jiaServiceURLConfig = 'jia_service_url';
const duplicateKey = 1062; // MySQL's error

// target is the address to which JIA sends conditions.
const target = process.env.POST_ISUCONDITION_TARGET_BASE_URL;

const formParser = multer({ storage: multer.memoryStorage() }).any();

// shown is what the API shows of a row of isu.
function shown(isu) {
  return { id: isu.id, jia_isu_uuid: isu.jia_isu_uuid, name: isu.name, character: isu.character ?? '' };
}

// getIsuList lists the user's ISUs, the newest first, each with its newest condition.
async function getIsuList(req, res) {
  const user = await userOf(req);
  const list = await inTransaction(async (connection) => {
    const items = [];
    const [isus] = await connection.query('SELECT * FROM `isu` WHERE `jia_user_id` = ? ORDER BY `id` DESC', [user]);
    for (const isu of isus) {
      const [[newest]] = await connection.query(
        'SELECT * FROM `isu_condition` WHERE `jia_isu_uuid` = ? ORDER BY `timestamp` DESC LIMIT 1', [isu.jia_isu_uuid]);
      items.push({ ...shown(isu), latest_isu_condition: newest === undefined ? null : responseOf(newest, isu.name) });
    }
    return items;
  });
  res.json(list);
}

// postIsu registers an ISU: stores it, has JIA activate it, stores its character.
async function postIsu(req, res) {
  const user = await userOf(req);
  const form = await readForm(req, res);
  const uuid = textOf(form.fields.jia_isu_uuid);
  const name = textOf(form.fields.isu_name);
  const image = form.image ?? await fs.readFile(noImage);

  const isu = await inTransaction(async (connection) => {
    try {
      await connection.query('INSERT INTO `isu` (`jia_isu_uuid`, `name`, `image`, `jia_user_id`) VALUES (?, ?, ?, ?)', [uuid, name, image, user]);
    } catch (err) {
      if (err.errno === duplicateKey) {
        throw new Refused(409, 'duplicated: isu');
      }
      throw err;
    }

    const character = await activate(await jiaServiceURL(connection), uuid);
    await connection.query('UPDATE `isu` SET `character` = ? WHERE `jia_isu_uuid` = ?', [character, uuid]);

    const [[row]] = await connection.query('SELECT * FROM `isu` WHERE `jia_user_id` = ? AND `jia_isu_uuid` = ?', [user, uuid]);
    return row;
  });
  res.status(201).json(shown(isu));
}

// readForm reads a form. image is undefined if it has none.
async function readForm(req, res) {
  if (!req.is('multipart/form-data')) {
    throw new Refused(400, 'bad format: icon');
  }
  await new Promise((resolve, reject) => {
    formParser(req, res, (err) => (err ? reject(new Refused(400, 'bad format: icon')) : resolve()));
  });
  const file = req.files.find((f) => f.fieldname === 'image');
  return { fields: req.body, image: file?.buffer };
}

// textOf is the first value of a field, "" without one. multer makes lists and objects of
// some names, which must not reach a statement.
function textOf(value) {
  const first = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : '';
}

// activate requests JIA to start the ISU and returns its character.
async function activate(jia, uuid) {
  const answer = await fetch(`${jia}/api/activate`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ target_base_url: target, isu_uuid: uuid }),
  });
  const text = await answer.text();
  if (answer.status !== 202) {
    throw new Refused(answer.status, 'JIAService returned error');
  }
  const { character = '' } = JSON.parse(text);
  if (typeof character !== 'string') {
    throw new Error('JIA answers a character that is no text');
  }
  return character;
}

// jiaServiceURL is the URL of JIA that initialize received.
async function jiaServiceURL(connection) {
  const [[row]] = await connection.query('SELECT `url` FROM `isu_association_config` WHERE `name` = ?', [jiaServiceURLConfig]);
  return row?.url ?? defaultJIAServiceURL;
}

// getIsu answers one ISU of the user.
async function getIsu(req, res) {
  const user = await userOf(req);
  const [[isu]] = await pool.query('SELECT * FROM `isu` WHERE `jia_user_id` = ? AND `jia_isu_uuid` = ?', [user, req.params.jia_isu_uuid]);
  if (isu === undefined) {
    throw new Refused(404, 'not found: isu');
  }
  res.json(shown(isu));
}

// getIsuIcon answers the icon of one ISU of the user.
async function getIsuIcon(req, res) {
  const user = await userOf(req);
  const [[isu]] = await pool.query('SELECT `image` FROM `isu` WHERE `jia_user_id` = ? AND `jia_isu_uuid` = ?', [user, req.params.jia_isu_uuid]);
  if (isu === undefined) {
    throw new Refused(404, 'not found: isu');
  }
  const image = isu.image ?? Buffer.alloc(0);
  res.writeHead(200, { 'Content-Length': image.length });
  res.end(image);
}

module.exports = { getIsuList, postIsu, getIsu, getIsuIcon, jiaServiceURLConfig };
