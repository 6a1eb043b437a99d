// Starts with the suites that wait longest (for deadlines, for builders that become idle), so that none of them is left
// alone at the end: a fresh clone has no times of earlier runs, and jest then goes by the size of the files.
const { default: Sequencer } = require('@jest/test-sequencer');

const slow = [
  'failed-rollout',
  'tests',
  'cli',
  'panel',
  'sleep',
  'wake',
  'git-hosts',
  'repositories',
  'isolation',
  'main-path',
  'shell',
  'member-reads',
  'builds',
  'fork-approval',
  'environment-access',
  'settings',
  'kubectl-plugin',
  'overrides',
  'images-from-ci',
  'kubectl-alone',
  'broken-repository',
  'hostile-fork',
  'runtime',
  'builders',
  'gitea',
  'fixtures',
  'fixtures-builds',
  'added-from-cluster',
  'failing-services',
];

function rank({ path }) {
  const index = slow.findIndex((name) => path.endsWith(`/${name}.test.ts`));
  return index === -1 ? slow.length : index;
}

module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    return [...super.sort(tests)].sort((a, b) => rank(a) - rank(b));
  }
};
