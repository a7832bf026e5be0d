'use strict';

// Refused is thrown to answer a request with a status and a text.
class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

// parametersOf returns the parameters of a request's URL. Its get returns null for one
// that is absent.
function parametersOf(req) {
  const at = req.url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : req.url.slice(at + 1));
}

// parseInt64 parses a decimal number of 64 bits into a BigInt. It returns undefined for
// anything else.
function parseInt64(text) {
  if (text === null || !/^[+-]?[0-9]+$/.test(text)) {
    return undefined;
  }
  const digits = BigInt(text.replace(/^[+-]/, ''));
  const number = text.startsWith('-') ? -digits : digits;
  return BigInt.asIntN(64, number) === number ? number : undefined;
}

module.exports = { Refused, parametersOf, parseInt64 };
