import native from './test/jest/native-project.json' with { type: 'json' };

/** Unit tests are beside their source. Tests that need a cluster or other programs are in test/, in projects of their own. */
export default {
  // jest's default of 5 s is too short while tests of a cluster use all processors. A test that hangs still fails.
  testTimeout: 60_000,
  // A worker keeps the modules of every test file in memory; with gigabytes of them, each garbage collection takes seconds.
  workerIdleMemoryLimit: '1GB',
  testSequencer: '<rootDir>/test/jest/slowest-first.cjs',
  projects: [
    {
      ...native,
      displayName: 'unit',
      testMatch: [
        '<rootDir>/{process,crds,kubernetes,build-logs,service-file,tester-client,shell-protocol,fair-queue,pattern-search,environment-access,registry-tokens,waker,waker-protocol,operator,api,tester,panel,cli,test/checks,test/cluster,test/support,test/bench,test/build-logs,test/docs,test/language,test/supply-chain,test/ci,test/jest,test/release}/**/*.test.ts',
      ],
    },
    // Tests of the heap, in a process of their own: collecting that of a worker with hundreds of suites takes seconds.
    { ...native, displayName: 'memory', testMatch: ['<rootDir>/test/memory/*.test.ts'] },
    // Tests of the emulated Git hosts, with the official clients of the real ones.
    { ...native, displayName: 'git-hosts', testMatch: ['<rootDir>/test/git-hosts/*.test.ts'] },
    { ...native, displayName: 'ssh', testMatch: ['<rootDir>/test/ssh/**/*.test.ts'] },
    // These tests run helm, and use the API server of COPPICE_TEST_KUBECONFIG if that is set.
    { ...native, displayName: 'chart', testMatch: ['<rootDir>/test/chart/*.test.ts'] },
    // These tests start the registry Distribution in a container, with Docker.
    { ...native, displayName: 'registry', testMatch: ['<rootDir>/test/registry/*.test.ts'] },
    // These tests start nginx.
    { ...native, displayName: 'nginx', testMatch: ['<rootDir>/test/nginx/*.test.ts'] },
    { ...native, displayName: 'redis', testMatch: ['<rootDir>/test/redis/**/*.test.ts'] },
    { ...native, displayName: 'chromium', testMatch: ['<rootDir>/test/chromium/**/*.test.ts'] },
    { ...native, displayName: 'network-policies', testMatch: ['<rootDir>/test/network-policies/*.test.ts'] },
    { ...native, displayName: 'api-server', testMatch: ['<rootDir>/test/api-server/*.test.ts'] },
    { ...native, displayName: 'api-server-long', testMatch: ['<rootDir>/test/api-server/long/*.test.ts'] },
    { ...native, displayName: 'end-to-end', testMatch: ['<rootDir>/test/end-to-end/*.test.ts'] },
    {
      ...native,
      displayName: 'end-to-end-disruptive',
      testMatch: ['<rootDir>/test/end-to-end/disruptive/*.test.ts'],
    },
    { ...native, displayName: 'end-to-end-alone', testMatch: ['<rootDir>/test/end-to-end/alone/*.test.ts'] },
    // On a cluster of two workers.
    { ...native, displayName: 'end-to-end-nodes', testMatch: ['<rootDir>/test/end-to-end/nodes/*.test.ts'] },
    // On clusters whose pods have addresses of both families, or of IPv6 only.
    {
      ...native,
      displayName: 'end-to-end-ip-families',
      testMatch: ['<rootDir>/test/end-to-end/ip-families/*.test.ts'],
    },
    { ...native, displayName: 'end-to-end-long', testMatch: ['<rootDir>/test/end-to-end/long/*.test.ts'] },
  ],
};
