// Runs files in the order of their paths.
const { default: Sequencer } = require('@jest/test-sequencer');

module.exports = class ByPath extends Sequencer {
  sort(tests) {
    return tests.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }
};
