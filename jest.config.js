/** Unit tests stand beside their source; what needs a cluster stands under test/ and has a project of its own. */
const typescript = {
  transform: { '^.+\\.ts$': '<rootDir>/test/strip-types.cjs' },
  extensionsToTreatAsEsm: ['.ts'],
  testEnvironment: 'node',
};

export default {
  // jest's 5 s are too few where the tests of a cluster have the processors; what hangs still fails.
  testTimeout: 60_000,
  // A worker keeps what the modules of each file held; with a heap of gigabytes every collection takes seconds.
  workerIdleMemoryLimit: '1GB',
  testSequencer: '<rootDir>/test/slowest-first.cjs',
  projects: [
    {
      ...typescript,
      displayName: 'unit',
      testMatch: [
        '<rootDir>/{process,crds,kubernetes,build-logs,service-file,tester-client,fair-queue,registry-tokens,operator,api,tester,panel,test/cluster,test/bench,test/build-logs,test/docs,test/language,test/supply-chain}/**/*.test.ts',
      ],
    },
    // The emulated Git hosts themselves, held against the hosts' own clients.
    { ...typescript, displayName: 'git-hosts', testMatch: ['<rootDir>/test/git-hosts/*.test.ts'] },
    { ...typescript, displayName: 'ssh', testMatch: ['<rootDir>/test/ssh/**/*.test.ts'] },
    // Helm alone, and where COPPICE_TEST_KUBECONFIG is set that API server.
    { ...typescript, displayName: 'chart', testMatch: ['<rootDir>/test/chart/*.test.ts'] },
    // Distribution in a container of its own, by Docker.
    { ...typescript, displayName: 'registry', testMatch: ['<rootDir>/test/registry/*.test.ts'] },
    { ...typescript, displayName: 'redis', testMatch: ['<rootDir>/test/redis/**/*.test.ts'] },
    { ...typescript, displayName: 'chromium', testMatch: ['<rootDir>/test/chromium/**/*.test.ts'] },
    { ...typescript, displayName: 'api-server', testMatch: ['<rootDir>/test/api-server/*.test.ts'] },
    { ...typescript, displayName: 'api-server-long', testMatch: ['<rootDir>/test/api-server/long/*.test.ts'] },
    { ...typescript, displayName: 'end-to-end', testMatch: ['<rootDir>/test/end-to-end/*.test.ts'] },
    {
      ...typescript,
      displayName: 'end-to-end-disruptive',
      testMatch: ['<rootDir>/test/end-to-end/disruptive/*.test.ts'],
    },
    { ...typescript, displayName: 'end-to-end-alone', testMatch: ['<rootDir>/test/end-to-end/alone/*.test.ts'] },
    { ...typescript, displayName: 'end-to-end-long', testMatch: ['<rootDir>/test/end-to-end/long/*.test.ts'] },
  ],
};
