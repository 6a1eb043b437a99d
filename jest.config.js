/** Unit tests stand beside their source; what needs a cluster stands under test/ and has a project of its own. */
const typescript = {
  transform: { '^.+\\.ts$': '<rootDir>/test/strip-types.cjs' },
  extensionsToTreatAsEsm: ['.ts'],
  testEnvironment: 'node',
};

export default {
  projects: [
    {
      ...typescript,
      displayName: 'unit',
      testMatch: ['<rootDir>/{crds,kubernetes,build-logs,operator,api}/**/*.test.ts'],
    },
    { ...typescript, displayName: 'redis', testMatch: ['<rootDir>/test/redis/**/*.test.ts'] },
    { ...typescript, displayName: 'api-server', testMatch: ['<rootDir>/test/api-server/**/*.test.ts'] },
    { ...typescript, displayName: 'end-to-end', testMatch: ['<rootDir>/test/end-to-end/**/*.test.ts'] },
  ],
};
