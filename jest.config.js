/** Unit tests are beside their source. Tests that need a cluster or other programs are in test/, in projects of their own. */
const typescript = {
  transform: { '^.+\\.ts$': '<rootDir>/test/strip-types.cjs' },
  extensionsToTreatAsEsm: ['.ts'],
  // Each suite loads all its modules again. Three quarters of zod's are messages in languages that nothing here uses.
  moduleNameMapper: { '^\\.\\./locales/index\\.js$': '<rootDir>/node_modules/zod/v4/locales/en.js' },
  testEnvironment: 'node',
};

export default {
  // jest's default of 5 s is too short while tests of a cluster use all processors. A test that hangs still fails.
  testTimeout: 60_000,
  // A worker keeps the modules of every test file in memory; with gigabytes of them, each garbage collection takes seconds.
  workerIdleMemoryLimit: '1GB',
  testSequencer: '<rootDir>/test/slowest-first.cjs',
  projects: [
    {
      ...typescript,
      displayName: 'unit',
      testMatch: [
        '<rootDir>/{process,crds,kubernetes,build-logs,service-file,tester-client,shell-protocol,fair-queue,pattern-search,environment-access,registry-tokens,waker,waker-protocol,operator,api,tester,panel,cli,test/checks,test/cluster,test/bench,test/build-logs,test/docs,test/language,test/supply-chain,test/ci,test/release}/**/*.test.ts',
      ],
    },
    // Tests of the heap, in a process of their own: collecting that of a worker with hundreds of suites takes seconds.
    { ...typescript, displayName: 'memory', testMatch: ['<rootDir>/test/memory/*.test.ts'] },
    // Tests of the emulated Git hosts, with the official clients of the real ones.
    { ...typescript, displayName: 'git-hosts', testMatch: ['<rootDir>/test/git-hosts/*.test.ts'] },
    { ...typescript, displayName: 'ssh', testMatch: ['<rootDir>/test/ssh/**/*.test.ts'] },
    // These tests run helm, and use the API server of COPPICE_TEST_KUBECONFIG if that is set.
    { ...typescript, displayName: 'chart', testMatch: ['<rootDir>/test/chart/*.test.ts'] },
    // These tests start the registry Distribution in a container, with Docker.
    { ...typescript, displayName: 'registry', testMatch: ['<rootDir>/test/registry/*.test.ts'] },
    // These tests start nginx.
    { ...typescript, displayName: 'nginx', testMatch: ['<rootDir>/test/nginx/*.test.ts'] },
    { ...typescript, displayName: 'redis', testMatch: ['<rootDir>/test/redis/**/*.test.ts'] },
    { ...typescript, displayName: 'chromium', testMatch: ['<rootDir>/test/chromium/**/*.test.ts'] },
    { ...typescript, displayName: 'network-policies', testMatch: ['<rootDir>/test/network-policies/*.test.ts'] },
    { ...typescript, displayName: 'api-server', testMatch: ['<rootDir>/test/api-server/*.test.ts'] },
    { ...typescript, displayName: 'api-server-long', testMatch: ['<rootDir>/test/api-server/long/*.test.ts'] },
    { ...typescript, displayName: 'end-to-end', testMatch: ['<rootDir>/test/end-to-end/*.test.ts'] },
    {
      ...typescript,
      displayName: 'end-to-end-disruptive',
      testMatch: ['<rootDir>/test/end-to-end/disruptive/*.test.ts'],
    },
    { ...typescript, displayName: 'end-to-end-alone', testMatch: ['<rootDir>/test/end-to-end/alone/*.test.ts'] },
    // On a cluster of two workers.
    { ...typescript, displayName: 'end-to-end-nodes', testMatch: ['<rootDir>/test/end-to-end/nodes/*.test.ts'] },
    // On clusters whose pods have addresses of both families, or of IPv6 only.
    {
      ...typescript,
      displayName: 'end-to-end-ip-families',
      testMatch: ['<rootDir>/test/end-to-end/ip-families/*.test.ts'],
    },
    { ...typescript, displayName: 'end-to-end-long', testMatch: ['<rootDir>/test/end-to-end/long/*.test.ts'] },
  ],
};
