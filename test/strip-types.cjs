// A jest transform that does what Node itself does when it runs our .ts files: it erases the types and nothing else.
const { stripTypeScriptTypes } = require('node:module');

module.exports = { process: (source) => ({ code: stripTypeScriptTypes(source) }) };
