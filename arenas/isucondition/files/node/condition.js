'use strict';

const { userOf } = require('./auth');
const { inTransaction, pool, storable, unixSeconds } = require('./database');
const { isConditionFormat, levelOf } = require('./level');
const { Refused, parametersOf, parseInt64 } = require('./request');

// conditionLimit is the number of conditions on one page of the history.
const conditionLimit = 20;

// dropProbability is the share of reports that are discarded unread: the database
// could not store all of them in time.
const dropProbability = 0.9;

// responseOf is a row of isu_condition as the API shows it.
function responseOf(row, isuName) {
  return {
    jia_isu_uuid: row.jia_isu_uuid,
    isu_name: isuName,
    timestamp: unixSeconds(row.timestamp),
    is_sitting: Boolean(row.is_sitting),
    condition: row.condition,
    condition_level: levelOf(row.condition),
    message: row.message,
  };
}

// dropMost discards most reports before they are read.
function dropMost(req, res, next) {
  if (Math.random() < dropProbability) {
    res.status(202).end();
    return;
  }
  next();
}

// reportsOf reads the reports of an ISU. It throws Refused unless all are well formed.
function reportsOf(body) {
  let reports;
  try {
    reports = JSON.parse(String(body ?? ''));
  } catch {
    throw new Refused(400, 'bad request body');
  }
  if (!Array.isArray(reports) || reports.length === 0) {
    throw new Refused(400, 'bad request body');
  }
  return reports.map((report) => {
    const { is_sitting = false, condition = '', message = '', timestamp = 0 } = withoutNulls(report);
    if (typeof is_sitting !== 'boolean' || typeof message !== 'string' || !Number.isInteger(timestamp) ||
        typeof condition !== 'string' || !isConditionFormat(condition)) {
      throw new Refused(400, 'bad request body');
    }
    return { is_sitting, condition, message, timestamp };
  });
}

// withoutNulls leaves out the fields that are null: they count as absent.
function withoutNulls(object) {
  return Object.fromEntries(Object.entries(object ?? {}).filter(([, value]) => value !== null));
}

// postIsuCondition takes the reports of an ISU.
async function postIsuCondition(req, res) {
  const uuid = req.params.jia_isu_uuid;
  const reports = reportsOf(req.body);

  await inTransaction(async (connection) => {
    const [[row]] = await connection.query('SELECT COUNT(*) AS `count` FROM `isu` WHERE `jia_isu_uuid` = ?', [uuid]);
    if (row.count === 0) {
      throw new Refused(404, 'not found: isu');
    }
    for (const report of reports) {
      await connection.query(
        'INSERT INTO `isu_condition` (`jia_isu_uuid`, `timestamp`, `is_sitting`, `condition`, `message`) VALUES (?, ?, ?, ?, ?)',
        [uuid, new Date(report.timestamp * 1000), report.is_sitting, report.condition, report.message]);
    }
  });

  res.status(202).end();
}

// getIsuConditions answers a page of an ISU's history, the newest first:
// start_time <= timestamp < end_time.
async function getIsuConditions(req, res) {
  const user = await userOf(req);
  const parameters = parametersOf(req);
  const end = parseInt64(parameters.get('end_time'));
  if (end === undefined) {
    throw new Refused(400, 'bad format: end_time');
  }
  const levels = parameters.get('condition_level') ?? '';
  if (levels === '') {
    throw new Refused(400, 'missing: condition_level');
  }
  let start;
  if (parameters.get('start_time')) {
    start = parseInt64(parameters.get('start_time'));
    if (start === undefined) {
      throw new Refused(400, 'bad format: start_time');
    }
  }

  const uuid = req.params.jia_isu_uuid;
  const [[isu]] = await pool.query('SELECT `name` FROM `isu` WHERE `jia_isu_uuid` = ? AND `jia_user_id` = ?', [uuid, user]);
  if (isu === undefined) {
    throw new Refused(404, 'not found: isu');
  }

  const rows = await historyOf(uuid, start, end, levels.split(','));
  res.json(rows.map((row) => responseOf(row, isu.name)));
}

// historyOf reads the history before end, keeps the wanted levels and cuts a page off.
// start is undefined if there is none.
async function historyOf(uuid, start, end, levels) {
  let rows;
  if (start === undefined) {
    [rows] = await pool.query(
      'SELECT * FROM `isu_condition` WHERE `jia_isu_uuid` = ? AND `timestamp` < ? ORDER BY `timestamp` DESC',
      [uuid, storable(end)]);
  } else {
    [rows] = await pool.query(
      'SELECT * FROM `isu_condition` WHERE `jia_isu_uuid` = ? AND `timestamp` < ? AND ? <= `timestamp` ORDER BY `timestamp` DESC',
      [uuid, storable(end), storable(start)]);
  }
  return rows.filter((row) => levels.includes(levelOf(row.condition))).slice(0, conditionLimit);
}

module.exports = { responseOf, dropMost, postIsuCondition, getIsuConditions };
